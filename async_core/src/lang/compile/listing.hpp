// The listing of code whose places are in one text.
#pragma once

#include "lang/text/line_index.hpp"

#include <heddle/lang/compile.hpp>

#include <string>

namespace heddle::lang {

/// As disassemble, with the places looked up in `lines`: linear for long programs.
[[nodiscard]] std::string disassemble_with(const function& code, realm& realm,
                                           const line_index& lines);
/// The same as one JSON object: its member "functions" has an object for each function, with
/// "instructions" (index, name, operands as in the listing, begin) and "handlers".
[[nodiscard]] std::string disassemble_as_json(const function& code, realm& realm,
                                              const line_index& lines);

} // namespace heddle::lang
