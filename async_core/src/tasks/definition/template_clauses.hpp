// Clauses of a definition that say what elements of a template file say.
#pragma once

#include "tasks/definition/source_form.hpp"

#include <heddle/tasks/definition/context_settings.hpp>

#include <vector>

namespace heddle::tasks {

/// ((max_turns 5) (max_cost_usd 0.1)); nil says nothing. Errors: evaluation without the clause's name
/// in front, with the place of the wrong part. Ranges are a matter of validate_template.
[[nodiscard]] result<resource_limits> read_resource_limits(const source_form& given);
/// ((goal true) (hints false)). Errors: as above.
[[nodiscard]] result<std::vector<context_relevance_input>> read_context_relevance(
    const source_form& given);
/// ((primary_elements ("src/*" goal)) (excluded_elements ("build/*"))). Errors: as above.
[[nodiscard]] result<context_assembly> read_context_assembly(const source_form& given);
/// true or false. Errors: as above.
[[nodiscard]] result<bool> read_flag(const source_form& given);

} // namespace heddle::tasks
