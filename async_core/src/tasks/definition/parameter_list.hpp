// (params p…) of defatom and deftool.
#pragma once

#include "tasks/definition/source_form.hpp"

#include <heddle/tasks/definition/task_template.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// Levels of the JSON of a default value: read_parameters() refuses deeper ones.
inline constexpr std::size_t max_default_depth = 64;

/// A type that a parameter may have.
struct parameter_type {
    std::string_view written;
    std::string_view schema; ///< name of a JSON type; "": any value
    std::string_view items;  ///< of an array
};

/// Null: there is no such type.
[[nodiscard]] const parameter_type* find_parameter_type(std::string_view written) noexcept;

/// Reads p, (p), (p type), (p type "description"), with `optional` before the type and
/// (default literal) after it. A default is data: reading runs nothing. Errors: SexpEvaluationError
/// that begins with `definer` ("defatom name"), with the place of the wrong part.
[[nodiscard]] result<std::vector<task_input>> read_parameters(const source_form& clause,
                                                              const std::string& definer);

} // namespace heddle::tasks
