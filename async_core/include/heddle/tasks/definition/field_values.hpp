// What the settings of a task hold, whichever it is.
#pragma once

#include <heddle/tasks/definition/task_fields.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heddle::tasks {

/// The number of a word of a choice.
struct field_word {
    std::size_t index = 0;
    friend bool operator==(const field_word&, const field_word&) = default;
};
/// What a field says, by shape: block and word, number and seconds, whole, flag, names, choice.
using field_value =
    std::variant<std::string, double, std::int64_t, bool, std::vector<std::string>, field_word>;

/// What a value must be, to stand behind "must be": "a whole number from 0 to 100".
[[nodiscard]] std::string expected_of(const task_field& field);
/// True for numbers.
[[nodiscard]] bool has_range(const task_field& field) noexcept;
/// Whether a value of the field's shape is in its range; what is no number is.
[[nodiscard]] bool is_in_range(const task_field& field, const field_value& given) noexcept;

/// Puts a value of the field's shape into its member.
void store(const field_ref& member, field_value given);
/// What the member says; nothing when it says nothing.
[[nodiscard]] std::optional<field_value> value_of(const task_field& field,
                                                  const task_template& from);
/// As value_of, where a text that says as little as "" says nothing too.
[[nodiscard]] bool is_said(const task_field& field, const task_template& from);

} // namespace heddle::tasks
