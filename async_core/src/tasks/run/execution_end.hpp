// How an execution ends: without a usable response, or with what the response leaves.
#pragma once

#include "tasks/run/execution_report.hpp"
#include "tasks/run/model_call.hpp"
#include "tasks/run/model_dialog.hpp"
#include "tasks/run/task_history.hpp"
#include "tasks/run/task_time.hpp"

#include <string_view>

namespace heddle::tasks {

/// Ends one execution: counts what was sent last, keeps what the model has written, and has the
/// report make the result or error of it.
class execution_end {
public:
    /// All of it outlives this object.
    execution_end(execution_report& report, model_call& model, model_dialog& dialog,
                  task_history& history, const task_time& time)
        : report_(report), model_(model), dialog_(dialog), history_(history), time_(time) {}

    /// Counts a response that is not the last one.
    void count(const ports::chat_response& response);

    /// The COMPLETE result, recorded in the conversation; one that asks for a subtask is not the
    /// end.
    [[nodiscard]] result<lang::value> complete(task_ending end);
    /// Whether that result asks for a subtask.
    [[nodiscard]] bool asks_for_subtask() const noexcept { return asks_for_subtask_; }
    /// The result of its subtask is that of the task.
    void complete_with(const lang::value& of_subtask);
    /// A limit is reached. `said`: what the model wrote last, where that is in no message yet.
    [[nodiscard]] result<lang::value> exhaust(const exhausted_resource& what,
                                              std::string_view said = {});
    [[nodiscard]] result<lang::value> exhaust(const spent_budget& over);
    /// The request has failed, or was cancelled. `said`: as above.
    [[nodiscard]] result<lang::value> take_error(error failure, std::string_view said = {});
    /// The workflow is at fault, or was cancelled, while nothing was sent. `said`: as above.
    [[nodiscard]] result<lang::value> refuse(error failure, std::string_view said = {});
    /// A step before the first request has failed: raised, or a FAILED result.
    [[nodiscard]] result<lang::value> refuse_step(error failure, bool of_workflow);
    /// Whoever receives the pieces of the response has failed: the response counts, and `failure`
    /// is raised.
    [[nodiscard]] result<lang::value> abandon(const result<ports::chat_response>& response,
                                              error failure);

private:
    void count(const error& failure);

    execution_report& report_;
    model_call& model_;
    model_dialog& dialog_;
    task_history& history_;
    const task_time& time_;
    bool asks_for_subtask_ = false;
};

} // namespace heddle::tasks
