// One execution of a task, without its waiting.
#pragma once

#include "call_settings.hpp"
#include "task_runner.hpp"

namespace heddle::tasks {

/// Prepared, then fed with answers until it has a result. The runner awaits in between.
class task_execution {
public:
    task_execution(task_runner& runner, task_call call);
    ~task_execution();
    task_execution(const task_execution&) = delete;
    task_execution& operator=(const task_execution&) = delete;

    /// Settings, model, prompt. Errors: of the workflow, raised before anything is sent.
    [[nodiscard]] result<void> begin();
    /// The step before the first request: the system prompt with the context, the start of time.
    /// Errors: of the workflow.
    [[nodiscard]] result<void> make_request();
    /// Takes an answer. A value or error ends the execution; nothing: ask again.
    [[nodiscard]] std::optional<result<lang::value>> accept(result<ports::chat_response> answer);
    /// As accept, for what an executor made.
    [[nodiscard]] result<lang::value> accept_elsewhere(result<executor_answer> done);
    /// A step before the first request has failed: raised, or a FAILED result.
    [[nodiscard]] result<lang::value> take_step_error(error failure);

    [[nodiscard]] bool waits_for_preparation() const noexcept { return wants_context_; }
    [[nodiscard]] bool wants_context() const noexcept { return wants_context_; }
    [[nodiscard]] context_request context_wanted();
    void set_context(std::shared_ptr<const assembled_context> made) { files_ = std::move(made); }

    /// Who does it in place of a model, or null.
    [[nodiscard]] task_executor* executor() const noexcept { return executor_; }
    [[nodiscard]] executor_request executor_wanted();

    [[nodiscard]] ports::llm_port& provider() noexcept { return *chosen_.provider; }
    [[nodiscard]] const ports::chat_request& request() const noexcept { return request_; }
    [[nodiscard]] coro::call_context context() const noexcept { return context_; }

private:
    [[nodiscard]] result<void> choose_model();
    void choose_parameters();
    [[nodiscard]] result<void> fill_prompt();
    void note_unused();
    [[nodiscard]] error placed(error failure) const;
    [[nodiscard]] std::string_view provider_name() const noexcept;

    [[nodiscard]] bool own_time_is_over(const error& cancelled) const;
    [[nodiscard]] result<lang::value> take_error(error failure);
    [[nodiscard]] std::optional<result<lang::value>> take_json(ports::chat_response answer);
    void ask_again(std::string answer, const std::string& violation);
    void count(const ports::chat_response& answer);
    [[nodiscard]] task_ending ending(std::string_view content);
    [[nodiscard]] result<lang::value> complete(const task_ending& end);
    [[nodiscard]] result<lang::value> fail(task_ending end, const task_failure& failure);
    void report(task_outcome outcome, std::string_view reason) noexcept;

    task_runner& runner_;
    task_call call_;
    call_settings settings_;
    task_executor* executor_ = nullptr;
    model_choice chosen_;
    ports::chat_request request_;
    std::string system_;
    std::string prompt_;
    bool wants_context_ = false;
    std::shared_ptr<const assembled_context> files_;
    coro::call_context context_;
    std::uint32_t asks_left_ = 0;
    coro::clock::time_point began_;
    bool started_ = false; ///< the observer waits to hear of the end
    ports::token_usage usage_;
    bool usage_known_ = true;
    std::uint32_t requests_ = 0;
    bool answered_ = false;
    ports::finish_reason finish_ = ports::finish_reason::stop;
    std::string answering_model_;
    lang::value executor_notes_;
    std::vector<std::string> warnings_;
};

} // namespace heddle::tasks
