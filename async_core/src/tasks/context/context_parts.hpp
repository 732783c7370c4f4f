// Documents chosen, ordered and written out.
#pragma once

#include <heddle/ports/memory_port.hpp>
#include <heddle/tasks/context/assembled_context.hpp>
#include <heddle/tasks/definition/context_settings.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// What a task is about: documents are held against it.
struct context_question {
    std::string description;
    std::vector<ports::memory_input> inputs; ///< those that take part in matching
};

/// The parts that have to do with the question, best first, equal ones in their order. Ranked by
/// BM25 over code-aware words; what scores below a quarter of the best is left out.
[[nodiscard]] std::vector<context_part> matching_parts(const std::vector<context_part>& parts,
                                                       const context_question& question);

/// Drops the parts that `assembly` excludes and moves the primary ones to the front (in the order
/// of their patterns) and the secondary ones to the back. A pattern is a path or one as in
/// .gitignore; the first of a group that matches counts.
void arrange(std::vector<context_part>& parts, const context_assembly& assembly);

/// Writes the parts that fit into `max_bytes` into `made`: text, parts, left_out. A part is put in
/// as a whole or not at all; smaller ones behind one that does not fit are still taken. What
/// `made.left_out` names already is in the note too. Equal parts give equal bytes.
void write_context(std::vector<context_part> parts, std::size_t max_bytes,
                   assembled_context& context);

} // namespace heddle::tasks
