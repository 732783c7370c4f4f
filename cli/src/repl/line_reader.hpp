// The input lines of a session.
#pragma once

#include "console.hpp"
#include "signal_pipe.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

struct line_read {
    enum class outcome : std::uint8_t {
        line,
        interrupted, ///< Ctrl-C: what was typed so far is dropped
        end,         ///< of the input
        failed,      ///< the input cannot be read; `text` has the reason
        terminated   ///< SIGTERM
    };
    outcome how = outcome::end;
    std::string text; ///< of the line, without its end; an entry of the history may have several
};

class line_reader {
public:
    virtual ~line_reader() = default;
    /// The next line; `continues`: of an expression that is not complete yet.
    [[nodiscard]] virtual line_read next(bool continues) = 0;
    /// The lines since the last call are one entry of the history.
    virtual void end_entry() {}
};

/// Replacements by Tab for the word before the cursor.
struct completion {
    std::size_t word_bytes = 0; ///< of the text before the cursor
    std::vector<std::string> candidates;
};
using completer = std::function<completion(std::string_view before_cursor)>;

/// Reads standard input without editing; prompts if `prompts`. Its arguments outlive it.
[[nodiscard]] std::unique_ptr<line_reader> make_plain_reader(signal_pipe& signals, console& output,
                                                             bool prompts);

struct editor_parts {
    signal_pipe* signals = nullptr;
    console* output = nullptr;
    completer complete;
    std::vector<std::string> history;               ///< oldest first
    std::function<void(std::string_view)> on_entry; ///< each entry of the history
};

/// Reads from the terminal with editing, history and completion. Null if it was built without
/// libedit, or if the terminal does not support it. Its arguments outlive it.
[[nodiscard]] std::unique_ptr<line_reader> make_terminal_editor(editor_parts parts);

} // namespace heddle::cli
