// A program that has been read, checked and compiled.
#pragma once

#include <heddle/answer.hpp>
#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/call_options.hpp>
#include <heddle/job.hpp>
#include <heddle/json.hpp>
#include <heddle/posted_handler.hpp>

#include <boost/asio/async_result.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heddle::embed {
class program_handle;
}

namespace HEDDLE_PUBLIC heddle {

/// A function that a program defines or imports.
struct function_signature {
    std::string name;
    std::vector<std::string> parameters; ///< in order
    std::size_t required = 0;            ///< how many of them are required
    bool has_rest = false;               ///< the last parameter takes all further arguments
    std::string documentation{};         ///< its docstring; empty without one
    bool is_imported = false;            ///< an imported file or module defines it
};

/// A handle, cheap to copy, of a program of a runtime (runtime::load). The program is immutable.
/// With load_options::reload it is replaced as a whole when its files change; a call keeps the
/// version with which it began.
///
/// Lifetime: calls fail with runtime_errc::stopped once the runtime is destroyed.
/// Threads: any; different handles can be used at the same time.
class program {
public:
    /// Refers to no program: calls fail with runtime_errc::no_function.
    program() noexcept = default;
    explicit program(std::shared_ptr<embed::program_handle> handle) noexcept
        : handle_(std::move(handle)) {}

    /// The name or path with which it was loaded; empty without a program.
    [[nodiscard]] std::string name() const;
    /// The functions that can be called, sorted by name: its own and imported ones. With
    /// host_threads::one, empty until the context has loaded it.
    [[nodiscard]] std::vector<function_signature> functions() const;
    /// The names of the tasks that the program can call, sorted: its own, configured and imported
    /// ones. With host_threads::one, empty until the context has loaded it.
    [[nodiscard]] std::vector<std::string> tasks() const;
    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }

    /// Calls a function of the program.
    ///
    /// Input: the members of an object are arguments by name; the elements of an array are
    /// arguments by position; null passes no argument; any other value is the only argument. A
    /// function whose only parameter is named `input` receives any input unchanged.
    ///
    /// Result: `void(result<answer>)`.
    /// Errors: runtime_errc; those of the workflow, with failure_details; cancelled, with the
    /// reason.
    /// Cancellation: by the deadline, or by the cancellation slot of the handler (terminal, partial
    /// or total). The call completes when every branch, connection and cleanup has ended.
    /// Completes on the executor associated with the handler; a handler without one runs on a
    /// thread of the runtime, and must not block.
    template <class CompletionToken>
    auto call(std::string function, json input, call_options options,
              CompletionToken&& token) const {
        return boost::asio::async_initiate<CompletionToken, void(result<answer>)>(
            [handle = handle_, tag = std::string(options.tag)](
                auto handler, std::string name, json given, call_options bounds) mutable {
                bounds.tag = tag; // the string of the caller's view may be gone
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

    /// Like call, but delivers the text of responses as it arrives. See job.
    [[nodiscard]] job start(std::string function, json input,
                            const call_options& options = {}) const;

private:
    static void start_call(std::shared_ptr<embed::program_handle> handle, std::string function,
                           json input, const call_options& options,
                           detail::posted_handler<result<answer>> handler);

    std::shared_ptr<embed::program_handle> handle_;
};

} // namespace heddle
