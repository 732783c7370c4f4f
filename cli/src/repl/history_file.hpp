// What was entered in earlier sessions.
#pragma once

#include "environment.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// $XDG_STATE_HOME/heddle/history, or ~/.local/state/heddle/history; nothing without a home.
[[nodiscard]] std::optional<std::string> history_path(const environment& variables);

/// True for text that may hold a key or a password. Better too many than one too few.
[[nodiscard]] bool looks_secret(std::string_view text);

/// A file with a line for each entry, readable by its owner alone; in an entry of several lines,
/// U+001E stands between them. What cannot be read or written is left: a session without history is
/// a session still.
class history_file {
public:
    static constexpr std::size_t max_entries = 2000;

    explicit history_file(std::optional<std::string> path) : path_(std::move(path)) {}

    /// The last entries, oldest first. A file that has grown to twice as many is cut.
    [[nodiscard]] std::vector<std::string> load() const;
    /// Appends an entry, unless it looks secret or repeats the one before.
    void add(std::string_view entry);

private:
    std::optional<std::string> path_;
    std::string last_;
};

} // namespace heddle::cli
