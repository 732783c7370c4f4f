// The clause file_paths as programs write it.
#pragma once

#include "tasks/definition/source_form.hpp"

#include <heddle/tasks/definition/context_settings.hpp>

#include <string>
#include <string_view>

namespace heddle::tasks {

/// Reads ("path"…), or ((source s) (path p)… ) and its kin: ((command "git ls-files")),
/// ((description "what the files are about")), ((context_query "…")).
/// Errors: evaluation without the clause's name in front, with the place of the wrong part.
[[nodiscard]] result<file_paths_source> read_file_paths(const source_form& given);

/// The most paths, and the longest text, that a definition or a call may give.
inline constexpr std::size_t max_file_paths = 10'000;
inline constexpr std::size_t max_file_path_length = 4096;
inline constexpr std::size_t max_context_query_length = 64 * 1024;

/// Checks one path: not empty, not too long, no zero byte. Errors: evaluation.
[[nodiscard]] result<void> check_file_path(std::string_view path);

} // namespace heddle::tasks
