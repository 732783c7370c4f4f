// The values of the settings of a task.
#pragma once

#include <heddle/tasks/definition/task_fields.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heddle::tasks {

/// The index of a word of a choice.
struct field_word {
    std::size_t index = 0;
    friend bool operator==(const field_word&, const field_word&) = default;
};
/// The value of a field, by shape: block and word, number and seconds, whole, flag, names, choice.
using field_value =
    std::variant<std::string, double, std::int64_t, bool, std::vector<std::string>, field_word>;

/// The expected value, as text that follows "must be": "a whole number from 0 to 100".
[[nodiscard]] std::string expected_of(const task_field& field);
/// True for numbers.
[[nodiscard]] bool has_range(const task_field& field) noexcept;
/// Whether a value of the shape of the field is in its range; true for all that are not numbers.
[[nodiscard]] bool is_in_range(const task_field& field, const field_value& given) noexcept;

/// Stores a value of the shape of the field in its member.
void store(const field_ref& member, field_value given);
/// The value of the member; nothing if it is empty.
[[nodiscard]] std::optional<field_value> value_of(const task_field& field,
                                                  const task_template& from);
/// Whether the member has a value; a string that is the default counts as none.
[[nodiscard]] bool is_said(const task_field& field, const task_template& from);

} // namespace heddle::tasks
