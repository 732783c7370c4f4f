// Values as a text in the making.
#pragma once

#include "lang/text/text_builder.hpp"

#include <heddle/lang/printer.hpp>

namespace heddle::lang {

/// Appends the written form; `max_bytes` are those of the whole text. False: stop.
[[nodiscard]] bool print_to(text_builder& out, const value& v, const print_options& options);

} // namespace heddle::lang
