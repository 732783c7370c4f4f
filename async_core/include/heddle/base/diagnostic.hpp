// Renders errors for people.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>

#include <string>

namespace heddle {

struct diagnostic_style {
    bool colour = false;            ///< ANSI colours
    std::size_t max_trace = 20;     ///< trace lines shown; those in the middle are counted
    std::size_t max_message = 4000; ///< longer messages are cut, with a note
};

/// Message, source line with caret, trace in the user's words, hint, causes. Ends with a newline.
/// `kind` is the name shown before the message ("UnboundSymbolError"); empty: "error".
[[nodiscard]] std::string render_diagnostic(std::string_view kind, const error& failure,
                                            const source_map& sources,
                                            const diagnostic_style& style = {});

} // namespace heddle
