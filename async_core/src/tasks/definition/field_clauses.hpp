// Values of settings as programs write them: in the clauses of a definition and of a call.
#pragma once

#include "tasks/definition/source_form.hpp"

#include <heddle/tasks/definition/field_values.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// inheritContext and inherit-context as inherit_context.
[[nodiscard]] std::string snake_case(std::string_view name);

/// The name of a symbol or the text of a string; nothing for other values.
[[nodiscard]] std::optional<std::string_view> word_of(const source_form& given);

/// Reads the value of a field that is neither a group nor special.
/// Errors: evaluation, "must be …, not …" without the name in front, with the place of the value.
[[nodiscard]] result<field_value> read_field(const task_field& field, const source_form& given);

/// Reads ((name value)…), or such a map, into the members that a template (or a call) has for the
/// fields of the group; nil sets nothing, as a value too.
/// Errors: evaluation without the name of the group in front, with the place of the wrong part.
[[nodiscard]] result<void> read_group(const task_field& group, const source_form& given,
                                      task_template& into);
[[nodiscard]] result<void> read_group(const task_field& group, const source_form& given,
                                      task_settings& into);

/// For a name that a group of `defatom` does not have ("" for the definition itself): where it
/// belongs, else a similar name, else all that the group has.
[[nodiscard]] std::string unknown_clause_hint(std::string_view group, std::string_view written);

/// A similar name, else all that are known.
[[nodiscard]] std::string known_names_hint(std::string_view written,
                                           const std::vector<std::string>& known,
                                           std::string_view kind);

} // namespace heddle::tasks
