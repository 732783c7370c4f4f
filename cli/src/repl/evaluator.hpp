// Runs the input of a session, one piece after another.
#pragma once

#include "application.hpp"
#include "signal_pipe.hpp"
#include "workflow_options.hpp"

#include <heddle/host/session.hpp>

#include <optional>
#include <vector>

namespace heddle::cli {

/// Ctrl-C cancels the current run; the session continues with everything that was defined. A second
/// one meanwhile ends the program. Its arguments outlive it.
class evaluator {
public:
    evaluator(application& tools, host::session& session, const workflow_options& options,
              console& output, signal_pipe& signals)
        : tools_(tools), session_(session), options_(options), output_(output), signals_(signals) {}

    /// Runs the loop until the forms have a value or an error.
    [[nodiscard]] result<lang::value> run(std::vector<lang::datum> forms);
    /// Closes all connections. Call it last.
    void close();

    /// Counts of the model calls of the last run.
    [[nodiscard]] call_counts counts() const noexcept { return tools_.counts().since(before_); }
    /// Whether SIGTERM came during a run.
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
    coro::cancel_source* cancel_ = nullptr; ///< of the current run
    std::optional<result<lang::value>> ended_;
    call_counts before_; ///< counts before the last run
    bool terminated_ = false;
};

} // namespace heddle::cli
