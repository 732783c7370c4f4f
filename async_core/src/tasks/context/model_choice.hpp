// Files chosen by a model: what it is asked, and what its response means.
#pragma once

#include <heddle/ports/memory_port.hpp>
#include <heddle/tasks/definition/task_template.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// The verdict of a model on one candidate.
struct choice {
    enum class verdict : std::uint8_t { unknown, chosen, dropped };
    verdict said = verdict::unknown; ///< unknown: no usable response, the index's score holds
    double relevance = 0;            ///< 0 to 1
};

/// "internal:associative_matching_content" or "…_metadata".
[[nodiscard]] std::string_view matching_task_name(ports::matching_strategy strategy) noexcept;
/// The built-in task of that name; inputs: query, task, candidates.
[[nodiscard]] task_template matching_template(ports::matching_strategy strategy);

/// What the files are for: description and inputs of the task, earlier turns and actions.
/// Bounded.
[[nodiscard]] std::string task_text(const ports::memory_request& request);

/// The candidates numbered from 1, each with path, description and, when `excerpt_bytes` is not 0,
/// the beginning of its text.
[[nodiscard]] std::string describe_candidates(std::span<const ports::memory_match> candidates,
                                              std::size_t excerpt_bytes);

/// Reads a TaskResult into `choices`, which are those of `candidates`. The response is a list or an
/// object with a list "matches"; an element is a number, a path, or an object with "id" or "path"
/// and perhaps "relevance". What does not name a candidate is left out. Returns what was wrong, or
/// nothing; when nothing can be used the choices stay unknown.
[[nodiscard]] std::string read_choices(const lang::value& task_result,
                                       std::span<const ports::memory_match> candidates,
                                       std::span<choice> choices);

/// Drops and orders the matches as chosen: by relevance, equal ones in the order of the index.
void apply_choices(ports::memory_response& response, const std::vector<choice>& choices);

} // namespace heddle::tasks
