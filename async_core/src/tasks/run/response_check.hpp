// Whether the JSON of a response has the form that the task wants.
#pragma once

#include "tasks/output/json_extraction.hpp"
#include "tasks/run/result_builder.hpp"

#include <heddle/tasks/definition/compiled_task.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// What the check of a response found.
struct checked_response {
    std::string text;       ///< of the response
    lang::value content;    ///< the JSON in it, unless there is a violation
    bool completed = false; ///< that JSON was cut short, and has been completed
    std::string violation;  ///< empty: the response has its form
    std::string location;   ///< JSON pointer of the violation
    std::string_view kind;  ///< of the violation, as details.error_type has it
    bool unknown = false;   ///< to find out whether the response has its form would take too long
};

/// Finds the JSON of responses, checks it, and counts how often a model may be asked again.
class response_check {
public:
    /// Both outlive it.
    response_check(const compiled_task& task, lang::heap& memory) : task_(task), memory_(memory) {}

    /// How many responses of a wrong form are sent back.
    void allow_repeats(std::uint32_t count) noexcept { repeats_left_ = count; }

    /// Takes the text of a response; `cut`: it ended at its length limit. When it takes longer to
    /// check than others can wait, waits() is true: run() is to be called in turns. After that, or
    /// at once, take() has what was found.
    void begin(std::string text, bool cut);
    [[nodiscard]] bool waits() const noexcept { return waits_; }
    void run(lang::work_meter& work);
    [[nodiscard]] checked_response take();
    /// In place of take(), when run() was stopped. Result: the text of the response, which lives as
    /// long as this object.
    [[nodiscard]] std::string_view give_up() noexcept;

    /// Whether the model is to be asked once more; counts that.
    [[nodiscard]] bool repeats(const checked_response& wrong) noexcept;
    /// The failure of a task whose response has a violation.
    [[nodiscard]] task_failure failure_of(const checked_response& wrong,
                                          result_builder& results) const;

private:
    const compiled_task& task_;
    lang::heap& memory_;
    std::uint32_t repeats_left_ = 0;
    std::string text_;
    bool cut_ = false;
    bool waits_ = false;
    std::optional<extracted_json> found_;
    std::optional<error> not_json_;
    std::optional<schema_violation> wrong_;
};

} // namespace heddle::tasks
