// Plain data to values of the language, and back.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/json.hpp>
#include <heddle/lang/heap.hpp>

#include <cstddef>

namespace heddle::embed {

/// Errors: limit_exceeded for data that is nested too deeply, or has too long a string; errc::limit
/// of the language when the heap is full.
[[nodiscard]] result<lang::value> to_value(lang::heap& memory, const json& data);

/// Small values may hold one part at many places, and so be data without end.
inline constexpr std::size_t max_answer_bytes = std::size_t{64} << 20;

/// What JSON cannot represent, and what is nested too deeply, becomes its printed form.
/// Errors: LimitError when it is more than about `max_bytes`.
[[nodiscard]] result<json> from_value(const lang::value& given,
                                      std::size_t max_bytes = max_answer_bytes);

} // namespace heddle::embed
