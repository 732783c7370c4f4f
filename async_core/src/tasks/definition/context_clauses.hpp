// The clauses about context, files and history as programs write them.
#pragma once

#include "tasks/definition/source_form.hpp"

#include <heddle/tasks/definition/context_settings.hpp>

#include <string>
#include <string_view>

namespace heddle::tasks {

/// inheritContext and inherit-context as inherit_context.
[[nodiscard]] std::string snake_case(std::string_view name);

/// Reads ((name value)…) of a definition, or such a list or a map of a call. Values are strings or
/// symbols where words are meant. nil says nothing.
/// Errors: evaluation without the clause's name in front, with the place of the wrong part.
[[nodiscard]] result<context_management> read_context_management(const source_form& given);
[[nodiscard]] result<history_config> read_history_config(const source_form& given);

/// Reads ("path"…), or ((source s) (path p)… ) and its kin: ((command "git ls-files")),
/// ((description "what the files are about")), ((context_query "…")). Errors: as above.
[[nodiscard]] result<file_paths_source> read_file_paths(const source_form& given);

/// The most paths, and the longest text, that a definition or a call may give.
inline constexpr std::size_t most_file_paths = 10'000;
inline constexpr std::size_t longest_file_path = 4096;
inline constexpr std::size_t longest_context_query = 64 * 1024;

/// Checks one path: not empty, not too long, no zero byte. Errors: evaluation.
[[nodiscard]] result<void> check_file_path(std::string_view path);

} // namespace heddle::tasks
