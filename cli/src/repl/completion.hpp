// Completion by Tab.
#pragma once

#include "repl/line_reader.hpp"

#include <heddle/lang/realm.hpp>

#include <span>
#include <string_view>

namespace heddle::cli {

/// Names that begin with the word before the cursor: forms, builtins, globals, tasks; after ":load"
/// files, after "(import" the modules of the standard library, after a bracket in the call of a
/// task also its inputs; `commands` if the line begins with a colon. None inside a string.
[[nodiscard]] completion complete_word(lang::realm& realm,
                                       std::span<const std::string_view> commands,
                                       std::string_view before_cursor);

} // namespace heddle::cli
