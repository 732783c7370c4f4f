// `format`.
#pragma once

#include <heddle/lang/builtin.hpp>

#include <string_view>
#include <vector>

namespace heddle::lang {

/// (format text values…): see the row in strings.cpp.
[[nodiscard]] value format_text(native_call& call, std::span<value> arguments);
/// The contents of the placeholders of a format string, in order, with repetitions. Stops before
/// the first unmatched brace.
[[nodiscard]] std::vector<std::string_view> places_in(std::string_view text);

} // namespace heddle::lang
