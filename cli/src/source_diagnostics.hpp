// What is wrong with a source text, for people.
#pragma once

#include "console.hpp"

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>

namespace heddle::cli {

/// Writes an error of the reader or the compiler to standard error: kind, message, line, caret.
void tell_source_error(const error& failure, const source_map& sources, console& output);

} // namespace heddle::cli
