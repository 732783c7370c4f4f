// Tools that are written in the language.
#pragma once

#include <heddle/tasks/definition/task_template.hpp>
#include <heddle/tasks/tools/tool_registry.hpp>

#include <string>
#include <vector>

namespace heddle::tasks {

/// What `(deftool name (params p…) (description "…") body…)` declares.
struct tool_definition {
    std::string name;
    std::string description;
    std::vector<task_input> inputs;
    std::string input_schema; ///< made of the inputs
    source_span span;
};

/// Reads the form without its body. Errors: SexpEvaluationError that names the wrong part and its
/// place.
[[nodiscard]] result<tool_definition> parse_deftool(const lang::value& form, source_span span);

/// The tool whose calls run `body`, a function of the inputs in their order.
[[nodiscard]] tool make_language_tool(tool_definition definition, lang::value body);

} // namespace heddle::tasks
