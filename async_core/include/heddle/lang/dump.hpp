// Shows what the compiler generates for a program. Runs nothing except macros.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::lang {

enum class dump_format : std::uint8_t { text, json };

/// The resolved program as a tree: one node per line, with its position as line:column and the
/// storage of each name (register, cell, global); or the same as one JSON object. `text` was added
/// to the sources of `realm` at `position`. Imports are not followed; the forms after one are
/// resolved without the names that it defines. Errors: those of reading and compiling. Iterative.
[[nodiscard]] result<std::string> dump_ast(realm& realm, std::string_view text,
                                           std::uint32_t position, dump_format format);

/// The listing of the program's code (disassemble), or the same as one JSON object with the member
/// "functions". Errors: as above.
[[nodiscard]] result<std::string> dump_code(realm& realm, std::string_view text,
                                            std::uint32_t position,
                                            dump_format format = dump_format::text);

} // namespace heddle::lang
