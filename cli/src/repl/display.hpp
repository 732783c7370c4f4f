// Values and errors for display in a session.
#pragma once

#include <heddle/lang/value.hpp>

#include <string>
#include <string_view>

namespace heddle::cli {

/// The written form, without line end; if it is longer than `max_bytes`, it is cut and `was_cut` is
/// set.
struct shown_value {
    std::string text;
    bool was_cut = false;
};
/// One line. A longer value than `columns` is laid out as source (layout.hpp), and then cut after
/// whole lines.
[[nodiscard]] shown_value show_value(const lang::value& content, std::size_t max_bytes, bool colour,
                                     std::size_t columns = 0);

/// A task result for people: its parsed content in its written form, or else its content as text,
/// and a line with the model, the tokens and the cost; before them "FAILED: " and the message if it
/// has failed. Ends in a line end.
[[nodiscard]] std::string show_task_result(const lang::value& content, std::size_t max_bytes,
                                           bool colour, std::size_t columns);

/// Colours strings, numbers, true, false and nil, and #<…> of a written form.
[[nodiscard]] std::string coloured(std::string_view written);

} // namespace heddle::cli
