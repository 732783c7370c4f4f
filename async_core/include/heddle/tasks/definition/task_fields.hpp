// The settings of a task, one row for each, made from task_settings.def. Readers of definitions,
// files and calls, the rules, `ref`, the display of templates and the documentation use these rows.
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
    special   ///< has its own form and readers
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

/// The member that a field fills; null functions if there is none.
struct field_member {
    field_shape shape = field_shape::special;
    field_view (*view)(const task_template&) = nullptr;
    field_ref (*of_template)(task_template&) = nullptr;
    field_ref (*of_settings)(task_settings&) = nullptr; ///< for members that calls have too
};

struct task_field {
    std::string_view group{}; ///< the name of the field that contains it; "" if none does
    /// Of the element, and of the clause with underscores or hyphens; "" for `requests`.
    std::string_view name{};
    field_member member{};
    std::string_view clause{};                  ///< of `defatom`, if its name differs
    std::array<std::string_view, 2> in_calls{}; ///< its names in a call; none: calls cannot set it
    bool in_definitions = true;                 ///< a clause of `defatom`
    bool in_files = true;                       ///< an element of a file
    double min = 0;
    double max = 0;
    bool above_min = false; ///< the lower bound itself is out of range
    /// Of a choice, in the order of the values; of a member that is true or false: true, then
    /// false.
    std::span<const std::string_view> words{};
    std::string_view request{};       ///< the lang::request_setting that has the range
    std::string_view unsaid{};        ///< a string that is equivalent to ""
    std::string_view partner{};       ///< of the same group: `ref` takes both from one template
    bool placeholders = false;        ///< its text holds {{name}}
    std::string_view documentation{}; ///< Markdown for the cell of a table
};

/// In the order of the documentation; the fields of a group follow it.
[[nodiscard]] std::span<const task_field> task_fields() noexcept;
/// A field by the name of its clause in `defatom`, or in the clause of its group; hyphens and
/// underscores are the same. Null if there is none.
[[nodiscard]] const task_field* find_clause(std::string_view group, std::string_view name) noexcept;
/// A field by the name of its element in a file. Null if there is none.
[[nodiscard]] const task_field* find_element(std::string_view group,
                                             std::string_view name) noexcept;
/// The field that a name unknown to `group` probably means: one of that name elsewhere. Hyphens and
/// underscores are the same. Null if there is none.
[[nodiscard]] const task_field* find_misplaced(std::string_view group,
                                               std::string_view name) noexcept;
/// A field by its name in a call. Null if calls cannot set it.
[[nodiscard]] const task_field* find_call_field(std::string_view name) noexcept;

/// The name in `defatom`.
[[nodiscard]] std::string_view clause_name(const task_field& field) noexcept;
/// The clauses of `defatom`, or the fields of a group, for hints; including those of requests.
[[nodiscard]] std::vector<std::string> clause_names(std::string_view group = {});
/// The elements of a task in a file, or of a group.
[[nodiscard]] std::vector<std::string> element_names(std::string_view group = {});
/// The names of fields in a call, for hints.
[[nodiscard]] std::vector<std::string> call_names();
/// The request settings that have no row of their own.
[[nodiscard]] std::vector<const lang::request_setting*> other_request_settings();
/// The request setting that this field is as well. Null if it is none.
[[nodiscard]] const lang::request_setting* request_of(const task_field& field) noexcept;

} // namespace heddle::tasks
