// The rules for every template, whatever its source (docs/spec/runtime.md §1).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/check.hpp>
#include <heddle/tasks/definition/task_template.hpp>
#include <heddle/tasks/output/output_schema.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// One violation of a rule. It names the part of the template; the reader of the template knows its
/// position.
struct template_violation {
    lang::severity level = lang::severity::error;
    std::string_view code; ///< a fixed word for tools
    std::string part;      ///< the element or clause: "instructions", "output_format", "inputs"
    std::string item;      ///< the item in it: the name of an input, of a placeholder; may be empty
    std::string message;   ///< the problem, without the name of the part
    std::string hint;
    schema_place inside{}; ///< of a bad schema: which part of it
};

struct validation_options {
    /// Why a model cannot be used, or empty if it can. Not set: models are not checked.
    std::function<std::string(std::string_view model, std::string_view provider)> model_problem;
    bool strict_models = false;  ///< a model that cannot be used is an error, not a warning
    bool schema_is_read = false; ///< the schema of the output was compiled and is valid
};

/// Checks a template: names, placeholders against inputs, schema, ranges, the context pair, models.
/// Used for XML files, `defatom` and C++. Result: every violation, in the order of the parts. Pure;
/// threads: any. A template with a `ref` is checked after it was filled.
[[nodiscard]] std::vector<template_violation> validate_template(
    const task_template& declared, const validation_options& options = {});

/// The part and the problem, as one sentence.
[[nodiscard]] std::string violation_text(const template_violation& violation);

/// The violation as an error of the language: "task NAME: part: message", with the position of the
/// part, if the template has it.
[[nodiscard]] error violation_error(const task_template& declared,
                                    const template_violation& violation);

/// True if a workflow can write it as the name of a task.
[[nodiscard]] bool is_task_name(std::string_view text) noexcept;
/// True if it can name an input, and be used in a placeholder.
[[nodiscard]] bool is_input_name(std::string_view text) noexcept;

/// True for the types that `returns` can declare.
[[nodiscard]] bool is_result_type(std::string_view text) noexcept;
/// True for the subtypes that the program aider performs.
[[nodiscard]] bool is_aider_subtype(std::string_view subtype) noexcept;
/// The input that every task of an aider subtype has in addition to those it declares. It is
/// optional; without it, the first input describes the task.
inline constexpr std::string_view task_description_input = "task_description";

/// Adds what a template implies: a description (its name), the output format of its `returns`, the
/// input `task_description` of the aider subtypes. A second call changes nothing.
void complete_template(task_template& declared);

/// Fills what `declared` does not set with the values of `base`: the effect of `ref`. A setting is
/// set if `declared.given` contains it, or if its value is neither empty nor the default. Two
/// settings that could contradict each other (`partner` in task_fields.hpp) come from one template.
/// Name, positions and `ref` of `declared` are kept.
void fill_absent(task_template& declared, const task_template& base);

} // namespace heddle::tasks
