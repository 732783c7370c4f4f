// One execution of a task, without its waiting.
#pragma once

#include "tasks/call/call_settings.hpp"
#include "tasks/call/spending.hpp"
#include "tasks/output/json_extraction.hpp"
#include "tasks/run/task_chain.hpp"
#include "tasks/run/task_runner.hpp"
#include "tasks/run/task_session.hpp"
#include "tasks/tools/tool_offer.hpp"

namespace heddle::tasks {

/// A call inside the prompt, bound.
struct bound_prompt_call {
    task_call call;
    std::string written;
};

/// A tool that the model called: what it is told, and what the notes say.
struct called_tool {
    ports::tool_call asked;
    const offered_tool* offered = nullptr; ///< null: there is none of that name
    std::string answer;
    bool failed = false;
    std::chrono::nanoseconds took{0};
};

/// A request, and what it has cost as far as that is known.
struct paid_request {
    counted_use use;
    std::optional<double> cost; ///< in US dollars
};

/// The content of a COMPLETE TaskResult, a string. Errors: the TaskError of a FAILED one.
[[nodiscard]] result<lang::value> content_of_result(const lang::value& created);

/// Prepared, then fed with answers until it has a result. The runner awaits in between.
class task_execution {
public:
    task_execution(task_runner& runner, task_call call);
    ~task_execution();
    task_execution(const task_execution&) = delete;
    task_execution& operator=(const task_execution&) = delete;

    /// Settings, model, tools, prompt. Errors: of the workflow, raised before anything is sent.
    [[nodiscard]] result<void> begin();
    /// The step before the first request: the system prompt with the context, the start of time.
    /// Errors: of the workflow.
    [[nodiscard]] result<void> make_request();
    /// Before each request: a result when a limit of the task would be passed.
    [[nodiscard]] std::optional<result<lang::value>> check_limits();
    /// Takes an answer. A value or error ends the execution; nothing: ask again, after the tools
    /// that the model called, or after what waits_for_check() says.
    [[nodiscard]] std::optional<result<lang::value>> accept(result<ports::chat_response> answer);
    /// As accept, where the receiver of the pieces has failed: counts, and is its error.
    [[nodiscard]] result<lang::value> abandon(const result<ports::chat_response>& answer,
                                              error failure);
    /// As accept, for what an executor made. Nothing: waits_for_check().
    [[nodiscard]] std::optional<result<lang::value>> accept_elsewhere(result<executor_answer> done);
    /// The JSON of the answer takes longer to check than others can wait: check() is to be called
    /// in turns, then end_check(). In place of that refuse_unchecked() when it was stopped.
    [[nodiscard]] bool waits_for_check() const noexcept { return check_waits_; }
    void check(lang::work_meter& work);
    /// As accept.
    [[nodiscard]] std::optional<result<lang::value>> end_check();
    [[nodiscard]] result<lang::value> refuse_unchecked(error failure);
    /// A step before the first request has failed: raised, or a FAILED result.
    [[nodiscard]] result<lang::value> take_step_error(error failure, bool of_workflow);
    /// The workflow is at fault, or was cancelled, while the execution ran. `said`: what the model
    /// had said, where that is in no message yet.
    [[nodiscard]] result<lang::value> refuse(error failure, std::string_view said = {});

    [[nodiscard]] bool waits_for_preparation() const noexcept {
        return wants_context_ || has_prompt_calls();
    }
    [[nodiscard]] bool has_prompt_calls() const noexcept {
        return !call_.task->instructions.calls().empty() || !call_.task->system.calls().empty();
    }
    [[nodiscard]] result<std::vector<bound_prompt_call>> bind_prompt_calls();
    /// `contents` of the calls in the system prompt, then of those in the instructions.
    [[nodiscard]] result<void> fill_prompt(std::span<const lang::value> contents);

    [[nodiscard]] bool wants_context() const noexcept { return wants_context_; }
    [[nodiscard]] context_request context_wanted();
    void set_context(std::shared_ptr<const assembled_context> object) {
        chain_.files = std::move(object);
    }

    /// Who does it in place of a model, or null.
    [[nodiscard]] task_executor* executor() const noexcept { return executor_; }
    [[nodiscard]] executor_request executor_wanted();

    /// Whether a budget bounds what calls cost, or how many there are.
    [[nodiscard]] bool spends() const noexcept { return spends_; }
    /// Waits for the budgets around the call. A value: one is used up. Errors: cancelled,
    /// configuration_error.
    [[nodiscard]] coro::task<result<std::optional<spent_budget>>> reserve();
    /// A request has ended, although its receiver may still be at work: budgets get back what it
    /// held.
    void request_ended(const result<ports::chat_response>& ended);
    /// Whether the request is for a kept response only, because it would have to wait for a budget,
    /// and a kept response costs nothing. Once for each request.
    [[nodiscard]] bool looks_first();
    /// After looking first: nothing is kept, the request is made again and paid for.
    [[nodiscard]] bool found_nothing(const result<ports::chat_response>& answer);
    /// The result when a budget is used up.
    [[nodiscard]] result<lang::value> refuse_spending(const spent_budget& over);
    /// The same, unless there may be a kept response, which costs nothing: it is asked for instead.
    [[nodiscard]] std::optional<result<lang::value>> refuse_unless_kept(spent_budget over);
    /// After seeking one: the result when there is none.
    [[nodiscard]] std::optional<result<lang::value>> end_of_seeking(
        const result<ports::chat_response>& answer);

    [[nodiscard]] task_runner& runner() noexcept { return runner_; }
    [[nodiscard]] ports::llm_port& provider() noexcept { return *chosen_.provider; }
    [[nodiscard]] const ports::chat_request& request() const noexcept { return request_; }
    [[nodiscard]] coro::call_context context() const noexcept { return context_; }
    [[nodiscard]] const task_call& call() const noexcept { return call_; }
    [[nodiscard]] const task_chain& chain() const noexcept { return chain_; }

    /// The function that pieces of the answer go to, or nil.
    [[nodiscard]] const lang::value& receiver() const noexcept { return receiver_; }
    [[nodiscard]] bool streams() const noexcept { return streams_; }
    /// Whoever receives the pieces has refused one; raised once the request has ended.
    void receiver_failed(error failure) { receiver_failure_ = std::move(failure); }
    [[nodiscard]] std::optional<error> take_receiver_failure() noexcept {
        return std::exchange(receiver_failure_, std::nullopt);
    }
    void set_gate(ports::flow_gate* gate) noexcept { request_.gate = gate; }
    /// Tells the host of a piece.
    [[nodiscard]] result<void> tell_host(std::string_view text);

    [[nodiscard]] bool calls_tools() const noexcept { return !turn_.empty(); }
    [[nodiscard]] std::vector<called_tool>& turn() noexcept { return turn_; }
    /// The tools of the turn have ended: the model is told.
    void answer_tools();
    [[nodiscard]] std::string offered_names() const;

    /// Whether a result asks for a subtask.
    [[nodiscard]] bool continues(const result<lang::value>& ended) const noexcept;
    [[nodiscard]] static lang::value asked_subtask(const lang::value& ended);
    /// `made`: the result of the subtask, which is that of the task.
    void end_continued(const lang::value& result);
    /// The FAILED result of a task whose subtask has failed.
    [[nodiscard]] result<lang::value> fail_subtask(std::string_view partial, std::string message,
                                                   lang::value details);

private:
    [[nodiscard]] result<void> choose_model();
    void choose_parameters();
    void choose_tool();
    void begin_session();
    void choose_history();
    void add_history();
    void record_turn(const lang::value& result);
    void note_unused();
    [[nodiscard]] error placed(error failure) const;
    [[nodiscard]] std::string_view provider_name() const noexcept;

    [[nodiscard]] bool own_time_is_over(const error& cancelled) const;
    [[nodiscard]] result<lang::value> take_error(error failure, std::string_view said = {});
    [[nodiscard]] result<lang::value> exhaust(const exhausted_resource& what,
                                              std::string_view content);
    /// Nothing also when the check waits.
    [[nodiscard]] std::optional<result<lang::value>> take_json(ports::chat_response answer);
    [[nodiscard]] std::optional<result<lang::value>> take_tool_calls(ports::chat_response answer);
    void ask_again(std::string answer, const std::string& violation);
    void count(const ports::chat_response& answer);
    void count(const ports::chat_response& answer, const paid_request& paid);
    void add_warnings(const std::vector<std::string>& told);
    [[nodiscard]] result<lang::value> exhaust_call(const ports::chat_response& answer);
    void count_failure(const error& failure);
    void settle(const ports::chat_response& answer, std::uint32_t attempts);
    void settle(const error& failure);
    [[nodiscard]] paid_request paid_for(const ports::chat_response& answer,
                                        std::uint32_t attempts) const;
    [[nodiscard]] std::vector<paid_request> paid_for(
        const std::vector<ports::lost_request>& lost) const;
    [[nodiscard]] paid_request paid_for_part(const ports::chat_response& part,
                                             std::uint32_t attempts) const;
    [[nodiscard]] double lost_cost(const std::vector<ports::lost_request>& lost) const;
    [[nodiscard]] paid_request min_paid() const;
    void count_lost(const std::vector<paid_request>& lost);
    [[nodiscard]] model_price price_of(std::string_view provider, std::string_view asked_model,
                                       std::string_view model) const;
    [[nodiscard]] double input_cost() const;
    [[nodiscard]] result<cost_estimate> first_estimate() const;
    /// What the next request may cost, for the budgets. Errors: configuration_error.
    [[nodiscard]] result<expected_cost> expected();
    [[nodiscard]] bool may_be_kept() const noexcept;
    [[nodiscard]] model_price price() const noexcept;
    [[nodiscard]] std::string_view last_said() const noexcept;
    [[nodiscard]] task_ending ending(std::string_view content);
    [[nodiscard]] lang::value extra_notes(const task_ending& end);
    [[nodiscard]] result<lang::value> complete(task_ending end);
    [[nodiscard]] result<lang::value> fail(task_ending end, const task_failure& failure);
    void report(task_outcome outcome, std::string_view reason) noexcept;

    task_runner& runner_;
    task_call call_;
    task_chain chain_;
    task_session session_;
    call_settings settings_;
    task_executor* executor_ = nullptr;
    model_choice chosen_;
    ports::chat_request request_;
    std::string system_;
    std::string prompt_;
    bool wants_context_ = false;
    bool spends_ = false;
    bool has_dollars_ = false;
    std::string cost_kind_; ///< in the cost history; empty: no budget in dollars
    spending_share share_;
    std::optional<spent_budget> spent_; ///< why only a kept response is asked for
    bool looking_ = false;              ///< for a kept response, before waiting for a budget
    bool looked_ = false;               ///< that was done for the request
    coro::call_context context_;
    std::optional<std::chrono::nanoseconds> timeout_;
    std::uint32_t asks_left_ = 0;
    std::shared_ptr<conversation> said_; ///< null: the task has no part in it
    std::size_t history_turns_ = 0;
    std::uint32_t earlier_turns_ = 0; ///< in the prompt
    bool records_ = false;
    std::size_t prompt_at_ = 0; ///< among the messages
    /// Of the conversation; a wrong answer behind them is dropped.
    std::size_t settled_messages_ = 0;
    std::vector<offered_tool> offered_;
    std::vector<called_tool> turn_;
    lang::value tool_notes_; ///< notes.tool_calls, or nil
    coro::clock::time_point began_;
    bool started_ = false; ///< the observer waits for the end
    bool answered_ = false;
    ports::finish_reason finish_ = ports::finish_reason::stop;
    std::string answering_model_;
    std::string answering_provider_; ///< empty: nobody chose
    lang::value receiver_;
    bool streams_ = false;
    std::uint64_t number_; ///< among the executions of the session
    std::optional<error> receiver_failure_;
    lang::value executor_notes_;
    ports::chat_response unchecked_; ///< whose JSON is looked at
    std::optional<extracted_json> found_;
    std::optional<error> not_json_;
    std::optional<schema_violation> wrong_;
    bool check_waits_ = false;
    std::vector<std::string> warnings_;
};

} // namespace heddle::tasks
