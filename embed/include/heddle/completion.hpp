// How a function that works with callbacks returns its result.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/call.hpp>
#include <heddle/convert.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace HEDDLE_PUBLIC heddle {

/// Receives the result of a function.
using function_completion = std::function<void(result<json>)>;

namespace detail {

/// A call of a function that has not completed. Threads: any.
class pending_call {
public:
    pending_call(std::string function, call by, function_completion done);
    pending_call(const pending_call&) = delete;
    pending_call& operator=(const pending_call&) = delete;
    ~pending_call(); ///< fails a call that has not been completed

    /// False if the call was completed before.
    bool complete(result<json> outcome);
    /// Fails the call with the exception.
    bool fail(std::exception_ptr thrown);

    [[nodiscard]] const std::string& function() const noexcept { return function_; }
    [[nodiscard]] const call& by() const noexcept { return by_; }

private:
    struct parts;

    std::string function_;
    call by_;
    std::unique_ptr<parts> parts_;
};

/// The error of a result that JSON cannot express: the mistake is the function's, and none in what
/// its caller gave it.
[[nodiscard]] error unusable_result(const error& failure);

/// The result as JSON; the path of an error begins with "result".
/// Errors: internal, with the message of try_to_json.
template <class T>
[[nodiscard]] result<json> result_as_json(const T& value) {
    result<json> written = try_to_json<T>(value, "result");
    if (!written) return unusable_result(written.error());
    return written;
}

} // namespace detail

/// The last parameter of a function that completes later. Call it once, with the value or an error.
/// All copies belong to the same call: the first invocation counts. If the last copy is destroyed
/// without an invocation, the call fails with an InternalError.
/// Threads: any.
template <class T>
class completion {
public:
    using value_type = T;

    explicit completion(std::shared_ptr<detail::pending_call> pending) noexcept
        : pending_(std::move(pending)) {}

    /// Returns false and has no effect if the call was completed before.
    bool operator()(result<T> outcome) const {
        if (!outcome) return pending_->complete(std::move(outcome).error());
        return pending_->complete(detail::result_as_json<T>(*outcome));
    }
    /// Fails the call with the exception.
    bool operator()(std::exception_ptr thrown) const { return pending_->fail(std::move(thrown)); }

private:
    std::shared_ptr<detail::pending_call> pending_;
};

template <>
class completion<void> {
public:
    using value_type = void;

    explicit completion(std::shared_ptr<detail::pending_call> pending) noexcept
        : pending_(std::move(pending)) {}

    bool operator()() const { return pending_->complete(json()); }
    bool operator()(result<void> outcome) const {
        if (!outcome) return pending_->complete(std::move(outcome).error());
        return pending_->complete(json());
    }
    bool operator()(std::exception_ptr thrown) const { return pending_->fail(std::move(thrown)); }

private:
    std::shared_ptr<detail::pending_call> pending_;
};

} // namespace heddle
