// A program that was read, checked and compiled.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/call_options.hpp>
#include <heddle/job.hpp>
#include <heddle/json.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::embed {
class program_handle;
}

namespace HEDDLE_PUBLIC heddle {

/// A function that a program defines.
struct function_signature {
    std::string name;
    std::vector<std::string> parameters; ///< in order
    std::size_t required = 0;            ///< how many of them each call must pass
    bool has_rest = false;               ///< the last one takes all further arguments
    std::string documentation{};         ///< its docstring; empty without one
};

/// A program of a runtime (runtime::load): a handle, cheap to copy. The program is immutable, or
/// replaced as a whole when its files change (load_options::reload); a call keeps what it began
/// with.
///
/// Lifetime: calls fail with runtime_errc::stopped once the runtime is gone.
/// Threads: any; distinct handles may be used at the same time.
class program {
public:
    /// No program: calls fail with runtime_errc::no_function.
    program() noexcept = default;
    explicit program(std::shared_ptr<embed::program_handle> handle) noexcept
        : handle_(std::move(handle)) {}

    /// What it was loaded as; empty for none.
    [[nodiscard]] std::string name() const;
    /// The functions that can be called, by name. On a shared io_context, empty until the first
    /// call.
    [[nodiscard]] std::vector<function_signature> functions() const;
    /// The names of the tasks that it can call once it is loaded, sorted: its own, configured and
    /// imported ones. On a shared io_context, empty until the first call.
    [[nodiscard]] std::vector<std::string> tasks() const;
    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Calls a function of the program.
    ///
    /// Input: the members of an object are the parameters of their names; the elements of an array
    /// are the arguments in their order; null is no argument; anything else is the only argument. A
    /// function whose only parameter is named `input` takes any input whole.
    ///
    /// Result, as `void(result<answer>)`: see answer. Errors: runtime_errc; those of the workflow,
    /// with failure_details; cancelled, with its reason.
    /// Cancellation: by the deadline, or by the handler's cancellation slot (terminal, partial or
    /// total). The call completes once every branch, connection and cleanup has ended.
    /// Completes on the executor of the handler; a handler without one runs on a thread of the
    /// runtime, and must be quick.
    template <class CompletionToken>
    auto call(std::string function, json input, call_options options,
              CompletionToken&& token) const {
        return boost::asio::async_initiate<CompletionToken, void(result<answer>)>(
            [handle = handle_, tag = std::string(options.tag)](
                auto handler, std::string name, json given, call_options bounds) mutable {
                bounds.tag = tag; // what the caller's view refers to may be gone
                start_call(std::move(handle), std::move(name), std::move(given), bounds,
                           std::move(handler));
            },
            token, std::move(function), std::move(input), options);
    }
    template <class CompletionToken>
    auto call(std::string function, json input, CompletionToken&& token) const {
        return call(std::move(function), std::move(input), call_options{},
                    std::forward<CompletionToken>(token));
    }

    /// As call, but the text of responses is passed on as it arrives. See job.
    [[nodiscard]] job start(std::string function, json input,
                            const call_options& options = {}) const;

private:
    static void start_call(std::shared_ptr<embed::program_handle> handle, std::string function,
                           json input, const call_options& options,
                           boost::asio::any_completion_handler<void(result<answer>)> handler);

    std::shared_ptr<embed::program_handle> handle_;
};

} // namespace heddle
