// Workflows inside a C++ program.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/function.hpp>
#include <heddle/posted_handler.hpp>
#include <heddle/program.hpp>
#include <heddle/runtime_options.hpp>
#include <heddle/runtime_stats.hpp>

#include <boost/asio/async_result.hpp>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace boost::asio {
class io_context;
}

namespace heddle::embed {
class runtime_core;
}

namespace HEDDLE_PUBLIC heddle {

namespace detail {
/// Has no values, so that a list of them is empty.
struct no_option {
    no_option(no_option*, int) = delete;
};
} // namespace detail

/// How many threads run an io_context of the host.
enum class host_threads : std::uint8_t {
    one,    ///< workflows run on that thread
    several ///< workflows run on threads of the runtime
};

/// Threads that run workflows, with their connections, sessions and limits.
///
/// The destructor cancels all calls, waits until they have ended, and joins the threads. On a
/// thread of the runtime, or in a handler of the host's context with host_threads::one, it cannot
/// wait: there it only requests the end, and calls may run after it has returned; await shutdown()
/// first. shutdown() does the same as the destructor asynchronously, after a grace period.
/// Threads: any, except that a runtime on an io_context of the host (host_threads::one) belongs to
/// its thread, except for stats() and forget(); builds without NDEBUG check that.
class runtime {
public:
    /// Creates its own threads. Throws error_exception with the errors of create(). Blocks while it
    /// reads the configuration, and for at most 30 s while a program prints a key
    /// (`api_key_command` in heddle.toml), because the keys determine which models are available
    /// and which one is the default.
    explicit runtime(runtime_options options = {});
    /// The same as without options: makes `runtime rt({})` unambiguous.
    explicit runtime(std::initializer_list<detail::no_option>) : runtime() {}
    /// Runs on an io_context of the host. With host_threads::one, `context` must outlive the
    /// runtime and its calls; if calls are in progress, the destructor runs `context` until they
    /// have ended, even if it was stopped, but not inside a handler of `context`: await shutdown()
    /// first. With host_threads::several the runtime creates its own threads, as without a context.
    runtime(boost::asio::io_context& context, host_threads threads, runtime_options options = {});
    ~runtime();
    runtime(runtime&& other) noexcept;
    runtime& operator=(runtime&& other) noexcept;

    /// Like the first constructor. Errors: invalid_argument or llm_errc::configuration for invalid
    /// options; also those of a system that has no thread, descriptor or memory left.
    [[nodiscard]] static result<runtime> create(runtime_options options = {});

    /// Adds a function of the host to the programs that are loaded afterwards: workflows call it as
    /// `(NAME argument …)` or `(NAME (parameter argument) …)`, and tasks can offer it to models as
    /// a tool. Errors: invalid_argument for an invalid name or parameter.
    [[nodiscard]] heddle::result<void> function(function_definition definition);
    /// The same as function(make_function(…)); see make_function for the arguments. Throws
    /// error_exception in place of an error.
    template <std::size_t N, class Function>
    void function(std::string name, std::string documentation, const parameter (&parameters)[N],
                  Function callable, const function_options& options = {}) {
        add_function(make_function(std::move(name), std::move(documentation), parameters,
                                   std::move(callable), options));
    }
    template <class Function>
    requires detail::callable<Function>
    void function(std::string name, std::string documentation, Function callable,
                  const function_options& options = {}) {
        add_function(
            make_function(std::move(name), std::move(documentation), std::move(callable), options));
    }

    /// Reads, checks and compiles a file, and loads it on all threads. Imports are relative to its
    /// folder. Blocks until that is done: call it at the start of the program, or on a thread that
    /// may block. With host_threads::one, and in functions of the host, it blocks until the program
    /// is checked; the threads load it next, and log a mistake of its top level.
    /// Errors: not_found; the first mistake of the program, with failure_details.
    [[nodiscard]] heddle::result<program> load(std::string file, load_options options = {});
    /// The same for a text; `name` is shown in errors.
    [[nodiscard]] heddle::result<program> load_text(std::string name, std::string text);

    /// Deletes the records of the call with that tag: the next one with it begins anew. Result:
    /// whether there were any. From any thread; cheap, and durable a moment later, unless a store
    /// of the host has to be waited for. Errors:
    /// runtime_errc::tag_in_use while the call is in progress; invalid_argument without
    /// runtime_options::journal; runtime_errc::stopped; io_error of the journal.
    [[nodiscard]] heddle::result<bool> forget(std::string_view tag);

    /// Ends the runtime: refuses new calls, waits for those in progress for at most `grace`,
    /// cancels the rest with cancel_reason::shutdown, waits until they have ended, and closes
    /// connections. Completes with void() when all of that is done, also if another shutdown was
    /// started before. It cannot be cancelled. A handler without an associated executor runs on a
    /// thread of the runtime, or, if ~runtime has begun before, on a thread of the process.
    template <class CompletionToken>
    auto shutdown(std::chrono::nanoseconds grace, CompletionToken&& token) {
        return boost::asio::async_initiate<CompletionToken, void()>(
            [core = core_](auto handler, std::chrono::nanoseconds wait) mutable {
                start_shutdown(std::move(core), wait, std::move(handler));
            },
            token, grace);
    }

    /// Cheap. Threads: any.
    [[nodiscard]] runtime_stats stats() const;

private:
    struct opened {};
    runtime(opened, std::shared_ptr<embed::runtime_core> core) noexcept;
    void add_function(function_definition definition);
    static void start_shutdown(std::shared_ptr<embed::runtime_core> core,
                               std::chrono::nanoseconds grace, detail::posted_handler<> handler);

    std::shared_ptr<embed::runtime_core> core_;
};

} // namespace heddle
