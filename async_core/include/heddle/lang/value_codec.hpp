// Values as bytes, for journals: symbols stay symbols, shared parts are written once.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::lang {

/// Encodes data: nil, booleans, integers, reals, strings, symbols, lists and maps, at any depth.
/// What several places share is written once, so that the size is about linear in the distinct
/// parts; only windows of one list that overlap without one containing the others are written each.
/// Errors: type, naming the path to the first part that is not data (a function, a future);
/// limit, above `max_bytes`. Throws bad_alloc. The bytes are not compressed.
[[nodiscard]] result<std::string> encode_value(const value& data,
                                               std::size_t max_bytes = 64 * 1024 * 1024);
/// Encodes an error with its kind, code, message, hint, causes, trace and data; what is not data
/// becomes its printed form, and data of more than 16 MiB nil. Places in sources are left out, or
/// appended to their lines as text when `places` is given.
[[nodiscard]] std::string encode_error(const error& failure, const source_map* places = nullptr);

/// Whether the bytes begin as those of encode_error.
[[nodiscard]] bool is_encoded_error(std::string_view bytes) noexcept;

/// The category of that name, or null.
using category_finder = const boost::system::error_category* (*)(std::string_view name) noexcept;

/// What encode_value or encode_error has written: the value, or the error as the error of the
/// result. Errors besides: io_error for bytes that neither has written; limit, never more memory
/// than the heap's limit allows. A code of a category that is neither of this library nor of
/// Boost is of the one that `categories` finds (ports::find_category), else of one that has its
/// name only, which is enough for the kind of the error. Whatever the bytes are: time and memory
/// are linear in them.
[[nodiscard]] result<value> decode_answer(heap& memory, std::string_view bytes,
                                          category_finder categories = nullptr);

} // namespace heddle::lang
