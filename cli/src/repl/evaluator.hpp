// Runs what a session is told, one piece after another.
#pragma once

#include "application.hpp"
#include "command_line/workflow_options.hpp"
#include "signal_pipe.hpp"

#include <heddle/host/session.hpp>

#include <optional>
#include <vector>

namespace heddle::cli {

/// Ctrl-C cancels what runs; the session goes on with everything that was defined. A second one
/// while that ends leaves the program. What it is given outlives it.
class evaluator {
public:
    evaluator(application& tools, host::session& session, const workflow_options& options,
              console& output, signal_pipe& signals)
        : tools_(tools), session_(session), options_(options), output_(output), signals_(signals) {}

    /// Runs the loop until the forms have a value or an error.
    [[nodiscard]] result<lang::value> run(std::vector<lang::datum> forms);
    /// Closes all connections. To be called last.
    void close();

    /// What the last run has asked of its models.
    [[nodiscard]] call_counts counts() const noexcept { return tools_.counts().since(before_); }
    /// SIGTERM came while something ran.
    [[nodiscard]] bool terminated() const noexcept { return terminated_; }

private:
    class watch;
    [[nodiscard]] coro::task<void> evaluate(std::vector<lang::datum> forms,
                                            host::run_options options);
    void run_loop(coro::task<void> work);

    application& tools_;
    host::session& session_;
    const workflow_options& options_;
    console& output_;
    signal_pipe& signals_;
    coro::cancel_source* cancel_ = nullptr; ///< of what runs
    std::optional<result<lang::value>> ended_;
    call_counts before_; ///< the last run
    bool terminated_ = false;
};

} // namespace heddle::cli
