// How an execution ends: its result or error, and the event that reports it.
#pragma once

#include "tasks/run/call_choices.hpp"
#include "tasks/run/result_notes.hpp"
#include "tasks/run/task_chain.hpp"
#include "tasks/run/task_time.hpp"

#include <heddle/base/error.hpp>
#include <heddle/tasks/call/task_observer.hpp>
#include <heddle/tasks/definition/task_registry.hpp>

#include <cstdint>
#include <string_view>

namespace heddle::tasks {

/// Builds the results of one execution from its notes, and reports its start and its end to the
/// observer. An execution that is started and then destroyed counts as cancelled.
class execution_report {
public:
    /// All of it outlives the report.
    struct parts {
        const task_call& call;
        const task_chain& chain;
        const call_choices& choices;
        const task_time& time;
        const task_registry& tasks;
        task_observer* observer = nullptr; ///< null: nobody listens
        lang::heap& memory;
        result_builder& results;
    };
    explicit execution_report(const parts& of) : of_(of), notes_(of.memory, of.results) {}
    execution_report(const execution_report&) = delete;
    execution_report& operator=(const execution_report&) = delete;
    ~execution_report();

    [[nodiscard]] result_notes& notes() noexcept { return notes_; }
    /// The first request follows.
    void started();
    /// Turns of the conversation in the prompt.
    void set_earlier_turns(std::size_t count) noexcept {
        earlier_turns_ = static_cast<std::uint32_t>(count);
    }

    /// An end that keeps `content`, which outlives it.
    [[nodiscard]] task_ending ending(std::string_view content);
    /// The COMPLETE result; complete() reports that it is the end.
    [[nodiscard]] lang::value build(task_ending end);
    void complete() noexcept { finished(task_outcome::complete, {}); }
    /// The result of a subtask, in place of that of the task: with the warnings of both.
    [[nodiscard]] lang::value pass_on(lang::value of_subtask);
    /// Later steps may see what was said, besides the response.
    void leaves_trace() noexcept;
    /// The FAILED result, or where failures are raised the TaskError.
    [[nodiscard]] result<lang::value> fail(task_ending end, const task_failure& failure);
    /// Ends at a limit of the task. `content`: the text of the model so far; may be empty.
    [[nodiscard]] result<lang::value> exhaust(const exhausted_resource& what,
                                              std::string_view content);
    /// The service has failed: a FAILED result; when it is not set up, an error. `content`: as
    /// above.
    [[nodiscard]] result<lang::value> fail_request(error failure, std::string_view content);
    [[nodiscard]] error cancel(error cancelled);
    /// Ends with an error of the workflow.
    [[nodiscard]] error raise(error failure);
    /// The error with the place of the call, once: what a step notes of its error is kept by the
    /// step after it.
    [[nodiscard]] error placed(error failure) const;

private:
    void take_warnings();
    [[nodiscard]] lang::value extra_notes(const task_ending& end);
    void finished(task_outcome outcome, std::string_view reason) noexcept;

    parts of_;
    result_notes notes_;
    bool started_ = false; ///< the observer is to be notified of the end
    bool service_down_ = false;
    std::uint32_t earlier_turns_ = 0;
};

} // namespace heddle::tasks
