// Values as bytes, for journals: symbols stay symbols, shared parts are written once.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::lang {

/// Encodes data: nil, booleans, integers, reals, strings, symbols, lists and maps, at any depth.
/// Errors: type, naming the path to the first part that is no data (a function, a future);
/// limit, above `max_bytes`.
[[nodiscard]] result<std::string> encode_value(const value& data,
                                               std::size_t max_bytes = 64 * 1024 * 1024);
/// Encodes an error with its kind, code, message, hint, causes, trace and data, or as much of it
/// as is data.
[[nodiscard]] std::string encode_error(const error& failure);

/// What encode_value or encode_error has written: the value, or the error as the error of the
/// result. Errors besides: io_error for bytes that neither has written; never more memory than
/// the heap's limit allows.
[[nodiscard]] result<value> decode_answer(heap& memory, std::string_view bytes);

} // namespace heddle::lang
