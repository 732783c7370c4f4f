// The one error type of heddle.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/base/visibility.hpp>

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// Who wrote the text of an error: our client side, the remote server (may hold user input; never
/// trusted as markup), or the user's script.
enum class error_origin : std::uint8_t { client, server, script };

/// Why an operation was cancelled. Cancellation is a third outcome besides value and error; it
/// travels in result<T> as an error whose is_cancelled() is true.
enum class cancel_reason : std::uint8_t { none, user, deadline, sibling, budget, shutdown };

[[nodiscard]] std::string_view to_string(cancel_reason reason) noexcept;

/// Conditions that belong to no single library.
enum class errc : int {
    ok = 0,
    cancelled,        ///< stopped on request; see error::cancelled_because
    invalid_argument, ///< a caller broke a documented precondition that depends on outside data
    limit_exceeded,   ///< size, depth or count above a configured bound
    not_found,
    io_error,
    internal ///< a bug in heddle; never expected
};

[[nodiscard]] const boost::system::error_category& base_category() noexcept;
[[nodiscard]] inline boost::system::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), base_category()};
}

class error;

/// One line of a trace in the user's words: "while mapping item 3", "in task summarise".
struct trace_entry {
    std::string what;
    source_span where;
};

/// Base of typed data that a layer attaches to an error (a thrown DSL value, task metrics).
class error_payload {
public:
    virtual ~error_payload() = default;
};

struct error_info {
    boost::system::error_code code;
    std::string message; ///< what happened, without place; one line, no secrets
    std::string hint;    ///< how to fix it ("did you mean …"); may be empty
    error_origin origin = error_origin::client;
    cancel_reason cancelled_because = cancel_reason::none;
    source_span span;
    std::vector<trace_entry> trace; ///< innermost first
    std::optional<std::chrono::milliseconds> retry_after;
    std::optional<bool> retryable; ///< set by the layer that knows; empty: unknown
    std::optional<std::uint32_t>
        attempts; ///< requests that were sent, retries included; empty: unknown
    std::shared_ptr<const error> cause;
    std::shared_ptr<const error_payload> payload;
    mutable std::atomic<int> references{0};

    error_info() = default;
    error_info(const error_info& other);
    error_info& operator=(const error_info&) = delete;
};

inline void intrusive_ptr_add_ref(const error_info* info) noexcept {
    info->references.fetch_add(1, std::memory_order_relaxed);
}
inline void intrusive_ptr_release(const error_info* info) noexcept {
    if (info->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete info;
}

/// An error is one pointer to shared, logically immutable information; copying is cheap and the
/// `with…` functions copy on write. Never empty except after a move. Message, hint and trace are
/// always valid UTF-8, whatever they quote: invalid bytes become U+FFFD.
/// Threads: distinct objects may be used from distinct threads.
class error {
public:
    /// Empty, as after a move: exists because boost::system::result requires it. Only assign to it.
    error() noexcept = default;
    error(boost::system::error_code code, std::string message);
    error(errc code, std::string message) : error(make_error_code(code), std::move(message)) {}

    /// The outcome of work that was cancelled.
    [[nodiscard]] static error cancelled(cancel_reason reason, std::string message = {});

    [[nodiscard]] const boost::system::error_code& code() const noexcept { return info_->code; }
    [[nodiscard]] const std::string& message() const noexcept { return info_->message; }
    [[nodiscard]] const error_info& info() const noexcept { return *info_; }
    [[nodiscard]] bool is_cancelled() const noexcept {
        return info_->cancelled_because != cancel_reason::none;
    }
    [[nodiscard]] cancel_reason cancelled_because() const noexcept {
        return info_->cancelled_because;
    }

    error&& with_hint(std::string hint) &&;
    error&& with_span(source_span span) &&; ///< kept if a span is already known
    error&& with_trace(std::string what,
                       source_span where = {}) &&; ///< appends the next outer line
    error&& with_cause(error cause) &&;
    /// Appends `cause` to the existing causes, of which only the first 64 are kept.
    error&& with_last_cause(error cause) &&;
    error&& with_origin(error_origin origin) &&;
    error&& with_retry_after(std::chrono::milliseconds wait) &&;
    error&& with_retryable(bool retryable) &&;
    error&& with_attempts(std::uint32_t attempts) &&;
    error&& with_payload(std::shared_ptr<const error_payload> payload) &&;

private:
    friend error error_of_valid_text(boost::system::error_code code, std::string message);

    explicit error(boost::intrusive_ptr<error_info> info) : info_(std::move(info)) {}
    error_info& own(); ///< unshares before a change

    boost::intrusive_ptr<error_info> info_;
};

/// Expected failures are results; exceptions are for bugs and stop at library edges.
template <class T>
using result = boost::system::result<T, error>;

/// Called by result<T>::value() on an error: throws error_exception.
[[noreturn]] void throw_exception_from_error(const error& failure,
                                             const boost::source_location& where);

/// What `result<T>::value()` throws, for embedders who prefer exceptions.
class error_exception : public std::exception {
public:
    explicit error_exception(error failure) : failure_(std::move(failure)) {}
    [[nodiscard]] const char* what() const noexcept override { return failure_.message().c_str(); }
    [[nodiscard]] const error& failure() const noexcept { return failure_; }

private:
    error failure_;
};

} // namespace heddle

namespace boost::system {
template <>
struct is_error_code_enum<heddle::errc> : std::true_type {};
} // namespace boost::system

/// Propagates the error of a result expression, or binds its value to a new local.
/// The one macro allowed for control flow. Not for expressions that contain co_await: await into a
/// named local first.
#define HEDDLE_TRY_NAME2(line) heddle_try_##line
#define HEDDLE_TRY_NAME(line) HEDDLE_TRY_NAME2(line)
#define HEDDLE_TRY(declaration, expression)                                              \
    auto HEDDLE_TRY_NAME(__LINE__) = (expression);                                       \
    if (!HEDDLE_TRY_NAME(__LINE__)) return std::move(HEDDLE_TRY_NAME(__LINE__)).error(); \
    declaration = *std::move(HEDDLE_TRY_NAME(__LINE__))
#define HEDDLE_CHECK(expression) \
    if (auto heddle_check = (expression); !heddle_check) return std::move(heddle_check).error()
