// The part of one execution in the conversation of the session.
#pragma once

#include "tasks/run/conversation.hpp"
#include "tasks/run/model_dialog.hpp"
#include "tasks/run/task_session.hpp"

#include <heddle/tasks/definition/context_settings.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace heddle::tasks {

/// Which earlier turns go into the prompt of a task, and whether its own turn is recorded.
class task_history {
public:
    /// `open`: a form around the call opened a conversation, which its tasks use unless they say
    /// otherwise. Result: whether the conversation is needed at all; then join() is called.
    [[nodiscard]] bool begin(const history_config& wanted, bool open);
    /// Null: the call has no part in any.
    void join(std::shared_ptr<conversation> said);

    [[nodiscard]] bool uses_turns() const noexcept { return max_turns_ != 0; }
    /// Whether later tasks may see its turn.
    [[nodiscard]] bool records() const noexcept { return records_; }
    /// The newest turns that fit into the window of `session` beside what is asked, newest first.
    /// Valid until something is recorded. `request_bytes`: of what is asked before the prompt.
    [[nodiscard]] std::vector<const conversation_turn*> turns_that_fit(
        const task_session& session, std::size_t request_bytes, std::size_t prompt_bytes) const;

    /// Records the prompt and the content of a TaskResult, if the task is to. The prompt is moved
    /// from.
    void record(model_dialog& dialog, const lang::value& result);

private:
    std::shared_ptr<conversation> said_; ///< null: the task has no part in it
    std::size_t max_turns_ = 0;          ///< in the prompt
    bool records_ = false;
};

} // namespace heddle::tasks
