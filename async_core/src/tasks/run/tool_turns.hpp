// The tools that a model is offered, and those that it calls.
#pragma once

#include "tasks/run/model_dialog.hpp"
#include "tasks/run/result_notes.hpp"
#include "tasks/tools/tool_offer.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace heddle::tasks {

/// A tool that the model called: what the model receives, and what the notes say.
struct called_tool {
    ports::tool_call asked;
    const offered_tool* offered = nullptr; ///< null: there is none of that name
    std::string text;
    bool failed = false;
    std::chrono::nanoseconds took{0};
};

/// What one execution offers its model, and the calls of the last turn until they have ended.
class tool_turns {
public:
    /// Once. Adds what the task lists to `specs`. Errors: as offer_tools.
    [[nodiscard]] result<void> offer(const compiled_task& task, const task_registry& tasks,
                                     const tool_registry& tools,
                                     std::vector<ports::tool_spec>& specs);
    /// Rewrites the name of the tool that must be called to the one that the model knows it by.
    /// Result: a warning when there is no such tool; then `choice` is empty.
    [[nodiscard]] std::optional<std::string> resolve_choice(std::string& choice) const;
    [[nodiscard]] bool offers_any() const noexcept { return !offered_.empty(); }
    /// For messages.
    [[nodiscard]] std::string offered_names() const;

    /// A response called tools. Ids that are in `messages` already, or twice among `calls`, change.
    void begin(std::vector<ports::tool_call>& calls,
               const std::vector<ports::chat_message>& messages);
    [[nodiscard]] bool under_way() const noexcept { return !turn_.empty(); }
    [[nodiscard]] std::vector<called_tool>& calls() noexcept { return turn_; }
    /// All have ended: their results go to the model and into the notes.
    void end(model_dialog& dialog, result_notes& notes);

private:
    [[nodiscard]] const offered_tool* find(const std::string& name) const noexcept;

    std::vector<offered_tool> offered_;
    std::vector<called_tool> turn_;
};

} // namespace heddle::tasks
