// `format`.
#pragma once

#include <heddle/lang/builtin.hpp>

#include <string_view>
#include <vector>

namespace heddle::lang {

/// (format text values…): see the row in strings.cpp.
[[nodiscard]] value format_text(native_call& call, std::span<value> arguments);
/// What stands between the braces of the places of a text, in order and as often as it does. Ends
/// before the first single brace.
[[nodiscard]] std::vector<std::string_view> places_in(std::string_view text);

} // namespace heddle::lang
