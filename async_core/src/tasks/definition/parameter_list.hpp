// (params p…) of defatom and deftool.
#pragma once

#include "tasks/definition/source_form.hpp"

#include <heddle/tasks/definition/task_template.hpp>

#include <string>
#include <vector>

namespace heddle::tasks {

/// Reads p, (p), (p type), (p type "description"), with `optional` before the type and (default e)
/// after it. A default is data: reading runs nothing. Errors: SexpEvaluationError that begins with
/// `definer` ("defatom name"), with the place of the wrong part.
[[nodiscard]] result<std::vector<task_input>> read_parameters(const source_form& clause,
                                                              const std::string& definer);

} // namespace heddle::tasks
