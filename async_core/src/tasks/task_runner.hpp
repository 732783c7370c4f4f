// Runs tasks on models.
#pragma once

#include "result_builder.hpp"

#include <heddle/host/session.hpp>
#include <heddle/tasks/session_tasks.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace heddle::tasks {

/// What the executions of a session share.
class task_runner {
public:
    task_runner(host::session& owner, const task_system_parts& parts)
        : owner_(owner), parts_(parts), results_(owner.memory()) {}

    /// One execution: model, prompt, requests until the answer has its form, result.
    [[nodiscard]] coro::task<result<lang::value>> run(task_call call);

    [[nodiscard]] host::session& owner() noexcept { return owner_; }
    [[nodiscard]] const task_system_parts& parts() const noexcept { return parts_; }
    [[nodiscard]] result_builder& results() noexcept { return results_; }
    /// Logs a warning, the same text once in the life of the session.
    void warn_once(const std::string& message);

private:
    host::session& owner_;
    const task_system_parts& parts_;
    result_builder results_;
    std::set<std::string, std::less<>> warned_;
};

/// One execution without its waiting: prepared, then fed with answers until it has a result.
class task_execution {
public:
    task_execution(task_runner& runner, task_call call);
    ~task_execution();
    task_execution(const task_execution&) = delete;
    task_execution& operator=(const task_execution&) = delete;

    /// Makes the first request. Errors: of the workflow, raised before anything is sent.
    [[nodiscard]] result<void> prepare();
    /// Takes an answer. A value or error ends the execution; nothing: ask again.
    [[nodiscard]] std::optional<result<lang::value>> accept(result<ports::chat_response> answer);

    [[nodiscard]] ports::llm_port& provider() noexcept { return *chosen_.provider; }
    [[nodiscard]] const ports::chat_request& request() const noexcept { return request_; }
    [[nodiscard]] coro::call_context context() const noexcept { return context_; }

private:
    struct asked_settings;

    [[nodiscard]] result<asked_settings> read_settings();
    [[nodiscard]] result<void> choose_model(const asked_settings& settings);
    [[nodiscard]] result<void> fill_prompt();
    void note_unused();

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
    model_choice chosen_;
    ports::chat_request request_;
    coro::call_context context_;
    bool raise_failures_ = false;
    std::uint32_t asks_left_ = 0;
    coro::clock::time_point began_;
    bool started_ = false; ///< the observer waits to hear of the end
    ports::token_usage usage_;
    bool usage_known_ = true;
    std::uint32_t requests_ = 0;
    bool answered_ = false;
    ports::finish_reason finish_ = ports::finish_reason::stop;
    std::string answering_model_;
    std::vector<std::string> warnings_;
};

} // namespace heddle::tasks
