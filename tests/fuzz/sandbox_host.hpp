// A program around a sandbox, and what watches whether code inside leaves a trace outside.
#pragma once

#include <heddle/host/session.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::fuzzing {

/// How the code is run.
struct sandbox_terms {
    std::string limits;             ///< clauses of the form
    std::set<std::string> allow{};  ///< names, of `limits`
    std::set<std::string> models{}; ///< that code may choose, of `limits`
    std::size_t memory = 0;         ///< of `limits`; 0: none
};

/// A session with globals, macros, libraries, tasks and tools, on ports that note who uses them.
/// Time is virtual, so nothing waits.
class sandbox_host {
public:
    sandbox_host();
    ~sandbox_host();

    /// Runs the text in a sandbox, then calls what it has handed out. Empty, or what is wrong.
    [[nodiscard]] std::string run(const std::string& code, const sandbox_terms& terms);

    /// Names of the program that code may be allowed to call.
    [[nodiscard]] static const std::vector<std::string>& allowable();
    /// All other names that there are: globals, tasks, tools, effects, those of the implementation.
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }

    std::size_t values = 0;  ///< runs that ended with a value
    std::size_t refused = 0; ///< with a PermissionError
    std::size_t limited = 0; ///< with a LimitError or TimeoutError
    std::size_t handed = 0;  ///< in which a function was handed out, and called outside

private:
    class ports;
    class memory_observer;
    struct state;

    [[nodiscard]] result<lang::value> evaluate(const std::string& text,
                                               host::slice_observer* observer = nullptr);
    [[nodiscard]] state look();
    [[nodiscard]] std::string differences(const state& before);

    boost::asio::io_context io_{1};
    std::unique_ptr<coro::event_loop> loop_;
    std::unique_ptr<ports> ports_;
    tasks::model_registry models_;
    std::optional<host::engine> engine_;
    std::unique_ptr<host::session> session_;
    std::vector<std::string> names_;
};

} // namespace heddle::fuzzing
