// One execution of a task, from its call to its result.
#pragma once

#include "tasks/run/call_choices.hpp"
#include "tasks/run/execution_end.hpp"
#include "tasks/run/execution_report.hpp"
#include "tasks/run/filled_prompt.hpp"
#include "tasks/run/kept_end.hpp"
#include "tasks/run/model_call.hpp"
#include "tasks/run/model_dialog.hpp"
#include "tasks/run/response_check.hpp"
#include "tasks/run/task_chain.hpp"
#include "tasks/run/task_history.hpp"
#include "tasks/run/task_session.hpp"
#include "tasks/run/task_time.hpp"
#include "tasks/run/tool_turns.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

class task_runner;

/// Leads a call through the steps of docs/spec/runtime.md §4. What it knows is in its parts; here
/// is the order in which they have their turn.
class task_execution {
public:
    /// `runner` outlives the call. Result: the TaskResult. Errors: of the workflow; the TaskError
    /// of a failure where failures are raised; cancelled.
    [[nodiscard]] static coro::task<result<lang::value>> run(task_runner& runner, task_call call);

private:
    /// A value or error ends the execution; nothing: it goes on.
    using verdict = std::optional<result<lang::value>>;

    task_execution(task_runner& runner, task_call&& call);
    task_execution(const task_execution&) = delete;
    task_execution& operator=(const task_execution&) = delete;

    /// Settings, model, tools, prompt. Errors: of the workflow, raised before anything is sent.
    [[nodiscard]] result<void> begin();
    [[nodiscard]] result<void> choose();
    void choose_history();
    void begin_session();
    void note_unused();
    void warn(std::string what);

    [[nodiscard]] bool waits_for_preparation() const noexcept {
        return wants_context_ || prompt_.has_calls();
    }
    /// Everything that waits before the first request.
    [[nodiscard]] coro::task<verdict> prepare();
    [[nodiscard]] context_request wanted_context() const;
    /// The start of time, the messages of the first request. Errors: of the workflow.
    [[nodiscard]] result<void> make_request();

    [[nodiscard]] coro::task<result<lang::value>> run_executor();
    [[nodiscard]] verdict accept(result<executor_response> done);

    /// Before each request: whether a limit of the task would be passed.
    [[nodiscard]] verdict check_limits();
    /// In a durable step, before each request: whether the time of the task ends here, or it has
    /// ended here in an earlier execution, also by a budget.
    [[nodiscard]] coro::task<verdict> check_time(std::string_view where = {});
    /// `where`: besides before a request.
    [[nodiscard]] kept_end end_of_time(std::string_view where = {}) const;
    /// Waits for the budgets: see model_call::reserve.
    [[nodiscard]] coro::task<result<std::optional<spent_budget>>> reserve();
    /// Until other requests below the same task leave room for the next; then check_limits() again.
    [[nodiscard]] coro::task<void> wait_for_room();
    /// A budget is used up, and there is no cached response.
    [[nodiscard]] coro::task<result<lang::value>> end_refused(spent_budget over);
    /// Nothing: ask again, after the tools that the model called, or after check_response().
    [[nodiscard]] verdict accept(result<ports::chat_response>&& response);
    [[nodiscard]] verdict take_tool_calls(ports::chat_response&& response);
    [[nodiscard]] verdict take_json(std::string text, bool cut);
    /// A response whose check takes long.
    [[nodiscard]] coro::task<verdict> check_response();
    [[nodiscard]] verdict end_check();
    [[nodiscard]] coro::task<result<lang::value>> continue_with(lang::value continued);

    task_runner& runner_;
    task_call call_;
    task_time time_;
    task_session session_;
    task_chain chain_;
    call_choices choices_;
    filled_prompt prompt_;
    model_dialog dialog_;
    task_history history_;
    tool_turns tools_;
    model_call model_;
    response_check check_;
    bool wants_context_ = false;
    std::uint32_t requests_ = 0; ///< begun
    std::uint32_t checked_ = 0;  ///< of them, when check_time() was last called
    execution_report report_;    ///< ends before the parts above, of which it reports
    execution_end end_;
};

} // namespace heddle::tasks
