// The settings of a task, a row for each: readers of definitions, files and calls, the rules,
// `ref`, what is shown of a template and its documentation go by these rows.
#pragma once

#include <heddle/tasks/definition/task_template.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::tasks {

enum class field_shape : std::uint8_t {
    block, ///< text of several lines
    word,  ///< text of one line
    number,
    whole, ///< an integer
    seconds,
    flag,     ///< true or false
    choice,   ///< one of a set of words
    names,    ///< a list of words
    group,    ///< holds the fields whose `group` is its name
    requests, ///< the lang::request_settings() that have no row of their own
    special   ///< has a form and readers of its own
};

template <template <class> class Pointer>
using field_pointer =
    std::variant<Pointer<std::string>, Pointer<std::optional<double>>,
                 Pointer<std::optional<std::int64_t>>, Pointer<std::optional<std::uint32_t>>,
                 Pointer<std::optional<std::chrono::nanoseconds>>, Pointer<std::optional<bool>>,
                 Pointer<std::vector<std::string>>, Pointer<std::optional<inherit_mode>>,
                 Pointer<std::optional<accumulation>>>;
template <class T>
using written_pointer = T*;
template <class T>
using read_pointer = const T*;
using field_ref = field_pointer<written_pointer>;
using field_view = field_pointer<read_pointer>;

/// The member that a field fills; null functions where there is none.
struct field_member {
    field_shape shape = field_shape::special;
    field_view (*view)(const task_template&) = nullptr;
    field_ref (*of_template)(task_template&) = nullptr;
    field_ref (*of_settings)(task_settings&) = nullptr; ///< for members that calls have too
};

struct task_field {
    std::string_view group{}; ///< the name of the field that holds it; "" when it stands alone
    /// Of the element, and of the clause with underscores or hyphens; "" for `requests`.
    std::string_view name{};
    field_member member{};
    std::string_view clause{};                  ///< of `defatom`, where that has another name
    std::array<std::string_view, 2> in_calls{}; ///< its names in a call; none: calls cannot set it
    bool in_definitions = true;                 ///< a clause of `defatom`
    bool in_files = true;                       ///< an element of a file
    double min = 0;
    double max = 0;
    bool above_min = false; ///< the least value itself is out of the range
    /// Of a choice, in the order of the values; of a member that is true or false: true, then
    /// false.
    std::span<const std::string_view> words{};
    std::string_view request{};       ///< the lang::request_setting that gives the range
    std::string_view unsaid{};        ///< a string that means as little as ""
    std::string_view partner{};       ///< of its group: `ref` takes both from one template
    bool placeholders = false;        ///< its text holds {{name}}
    std::string_view documentation{}; ///< Markdown, as it stands in a cell of a table
};

/// In the order of the documentation; the fields of a group follow it.
[[nodiscard]] std::span<const task_field> task_fields() noexcept;
/// A field by the name of its clause in `defatom`, or in the clause of its group; hyphens and
/// underscores are the same. Null when there is none.
[[nodiscard]] const task_field* find_clause(std::string_view group, std::string_view name) noexcept;
/// A field by the name of its element in a file. Null when there is none.
[[nodiscard]] const task_field* find_element(std::string_view group,
                                             std::string_view name) noexcept;
/// The field that was meant by a name which `group` does not have: one of that name that belongs
/// elsewhere. Hyphens and underscores are the same. Null when there is none.
[[nodiscard]] const task_field* find_misplaced(std::string_view group,
                                               std::string_view name) noexcept;
/// A field by its name in a call. Null when calls cannot set it.
[[nodiscard]] const task_field* find_call_field(std::string_view name) noexcept;

/// The name in `defatom`.
[[nodiscard]] std::string_view clause_name(const task_field& field) noexcept;
/// The clauses of `defatom`, or the fields of a group, for hints; those of requests included.
[[nodiscard]] std::vector<std::string> clause_names(std::string_view group = {});
/// The elements of a task in a file, or of a group.
[[nodiscard]] std::vector<std::string> element_names(std::string_view group = {});
/// The names of fields in a call, for hints.
[[nodiscard]] std::vector<std::string> call_names();
/// The request settings that have no row of their own.
[[nodiscard]] std::vector<const lang::request_setting*> other_request_settings();
/// The setting of requests that this field is too. Null when it is none.
[[nodiscard]] const lang::request_setting* request_of(const task_field& field) noexcept;

} // namespace heddle::tasks
