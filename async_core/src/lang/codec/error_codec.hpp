// Errors to bytes and back.
#pragma once

#include "lang/codec/value_reader.hpp"

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/value_codec.hpp>

#include <string>

namespace heddle::lang::codec {

/// Appends the error and its causes.
void write_error(std::string& out, const error& failure, const source_map* places);
/// `out` becomes the error that was written. Errors: as value_reader::read.
[[nodiscard]] result<void> read_error(heap& memory, byte_reader& from, category_finder categories,
                                      error& out);

} // namespace heddle::lang::codec
