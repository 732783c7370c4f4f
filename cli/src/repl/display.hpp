// Values and errors as a session shows them.
#pragma once

#include <heddle/lang/value.hpp>

#include <string>
#include <string_view>

namespace heddle::cli {

/// The written form in one line, without line end; longer than `max_bytes` it is cut and `was_cut`
/// set.
struct shown_value {
    std::string text;
    bool was_cut = false;
};
[[nodiscard]] shown_value show_value(const lang::value& content, std::size_t max_bytes,
                                     bool colour);

/// Colours strings, numbers, true, false and nil, and #<…> of a written form.
[[nodiscard]] std::string coloured(std::string_view written);

} // namespace heddle::cli
