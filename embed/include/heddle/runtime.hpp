// Workflows inside a C++ program.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/function.hpp>
#include <heddle/program.hpp>
#include <heddle/runtime_options.hpp>
#include <heddle/runtime_stats.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace boost::asio {
class io_context;
}

namespace heddle::embed {
class runtime_core;
}

namespace HEDDLE_PUBLIC heddle {

/// How many threads run an io_context of the host.
enum class host_threads : std::uint8_t {
    one,    ///< workflows run in that thread
    several ///< workflows run in a thread of the runtime
};

/// Threads that run workflows, with their connections, sessions and limits.
///
/// Destroying it cancels all calls, waits for their end and joins the threads; shutdown() does the
/// same without waiting in place, and with time for calls to end by themselves.
/// Threads: any, except that a runtime on an io_context of the host (host_threads::one) belongs to
/// its thread; builds without NDEBUG check that.
class runtime {
public:
    /// With threads of its own. Throws error_exception for options that cannot be used: those of
    /// create(). Reads the configuration in place, and waits for a program that prints a key
    /// (`api_key_command` in heddle.toml), for 30 s at most: which models there are, and which one
    /// is the default, depends on the keys.
    explicit runtime(runtime_options options = {});
    /// On an io_context of the host. With host_threads::one, `context` outlives the runtime, and
    /// destroying the runtime while calls run drives `context` until they have ended: await
    /// shutdown() before, or let `context` run on. With host_threads::several it is as a runtime
    /// with one thread.
    runtime(boost::asio::io_context& context, host_threads threads, runtime_options options = {});
    ~runtime();
    runtime(runtime&& other) noexcept;
    runtime& operator=(runtime&& other) noexcept;

    /// As the first constructor. Errors: invalid_argument or llm_errc::configuration for options
    /// that cannot be used.
    [[nodiscard]] static result<runtime> create(runtime_options options = {});

    /// Offers a function of the host to the programs that are loaded from now on: workflows call it
    /// as `(NAME argument …)` or `(NAME (parameter argument) …)`, and models may be offered it as a
    /// tool. Errors: invalid_argument for a name or a parameter that cannot be used.
    [[nodiscard]] heddle::result<void> function(function_definition definition);
    /// As function(make_function(…)), which describes the arguments. Throws error_exception in
    /// place of an error.
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

    /// Reads a file, checks and compiles it. Its imports are found beside it. Waits until that is
    /// done: at a program's start, or anywhere else on a thread that may wait.
    /// Errors: not_found; the first mistake of the program, with failure_details.
    [[nodiscard]] heddle::result<program> load(std::string file, load_options options = {});
    /// The same for a text; `name` is shown in errors.
    [[nodiscard]] heddle::result<program> load_text(std::string name, std::string text);

    /// Ends the runtime: refuses new calls, waits for those in progress for at most `grace`,
    /// cancels the rest with cancel_reason::shutdown, waits for their end, and closes connections.
    /// Completes with void() when all of it is done, also if it was asked for before. It cannot be
    /// cancelled.
    template <class CompletionToken>
    auto shutdown(std::chrono::nanoseconds grace, CompletionToken&& token) {
        return boost::asio::async_initiate<CompletionToken, void()>(
            [core = core_](auto handler, std::chrono::nanoseconds wait) mutable {
                start_shutdown(std::move(core), wait, std::move(handler));
            },
            token, grace);
    }

    /// Cheap; from any thread.
    [[nodiscard]] runtime_stats stats() const;

private:
    explicit runtime(std::shared_ptr<embed::runtime_core> core) noexcept;
    void add_function(function_definition definition);
    static void start_shutdown(std::shared_ptr<embed::runtime_core> core,
                               std::chrono::nanoseconds grace,
                               boost::asio::any_completion_handler<void()> handler);

    std::shared_ptr<embed::runtime_core> core_;
};

} // namespace heddle
