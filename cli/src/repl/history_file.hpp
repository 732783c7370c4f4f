// The lines of earlier sessions.
#pragma once

#include "environment.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// $XDG_STATE_HOME/heddle/history, or ~/.local/state/heddle/history; nothing without a home.
[[nodiscard]] std::optional<std::string> history_path(const environment& variables);

/// True for a line that may hold a key or a password. Better too many than one too few.
[[nodiscard]] bool looks_secret(std::string_view line);

/// A file with a line for each line that was entered, readable by its owner alone. What cannot be
/// read or written is left: a session without history is a session still.
class history_file {
public:
    static constexpr std::size_t most_lines = 2000;

    explicit history_file(std::optional<std::string> path) : path_(std::move(path)) {}

    /// The last lines, oldest first. A file that has grown to twice as many is cut.
    [[nodiscard]] std::vector<std::string> load() const;
    /// Appends a line, unless it looks secret or repeats the one before.
    void add(std::string_view line);

private:
    std::optional<std::string> path_;
    std::string last_;
};

} // namespace heddle::cli
