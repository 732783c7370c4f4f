// The listing of code whose places are in one text.
#pragma once

#include "lang/text/line_index.hpp"

#include <heddle/lang/compile.hpp>

#include <string>

namespace heddle::lang {

/// As disassemble, with the places looked up in `lines`: linear for long programs.
[[nodiscard]] std::string disassemble_with(const function& code, realm& realm,
                                           const line_index& lines);

} // namespace heddle::lang
