// A template that was checked and compiled.
#pragma once

#include <heddle/lang/objects.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/definition/task_template.hpp>
#include <heddle/tasks/output/output_schema.hpp>
#include <heddle/tasks/prompt/prompt_template.hpp>

#include <memory>
#include <string>
#include <vector>

namespace heddle::tasks {

/// What is computed once per template, and not for each call. Immutable.
struct compiled_task {
    task_template declared;
    std::vector<std::string> input_names; ///< in order; empty unless inputs are declared
    prompt_template instructions;
    prompt_template system;
    output_schema schema;          ///< accepts everything if there is none
    ports::response_format format; ///< the format that the provider is asked for
    std::string format_note;       ///< the same in words, for the system message; may be empty
};

/// Checks a template: placeholders against inputs, the schema, names.
/// Errors: SexpEvaluationError naming the clause, with its position.
[[nodiscard]] result<std::shared_ptr<const compiled_task>> compile_task(task_template declared);
/// As above, metered: `work` counts the reading of the schema. The result is undefined once `work`
/// has stopped.
[[nodiscard]] result<std::shared_ptr<const compiled_task>> compile_task(task_template declared,
                                                                        lang::work_meter& work);

/// Approximate size of a task in bytes: its definition and its compiled form.
[[nodiscard]] std::size_t footprint(const compiled_task& task) noexcept;

/// A task as a value of the language. Counts towards the memory of its heap.
class task_callable final : public lang::host_object {
public:
    task_callable(lang::heap& memory, std::shared_ptr<const compiled_task> task)
        : task_(std::move(task)) {
        charge_.set(memory, footprint(*task_));
    }

    [[nodiscard]] std::string_view type_name() const noexcept override { return "task"; }
    [[nodiscard]] std::string describe() const override { return "task " + task_->declared.name; }
    [[nodiscard]] bool callable() const noexcept override { return true; }
    [[nodiscard]] bool is_immutable() const noexcept override { return true; }
    [[nodiscard]] const std::shared_ptr<const compiled_task>& task() const noexcept {
        return task_;
    }

private:
    std::shared_ptr<const compiled_task> task_;
    lang::heap_charge charge_;
};

} // namespace heddle::tasks
