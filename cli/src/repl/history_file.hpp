// The entries of earlier sessions.
#pragma once

#include <heddle/setup/environment.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// $XDG_STATE_HOME/heddle/history, or ~/.local/state/heddle/history; nothing without a home.
[[nodiscard]] std::optional<std::string> history_path(const setup::environment& variables);

/// True for text that may hold a key or a password. Prefers false positives.
[[nodiscard]] bool looks_secret(std::string_view text);

/// A file with one line for each entry, readable by its owner only; U+001E separates the lines of
/// an entry. Failures to read or write are ignored: a session works without history.
class history_file {
public:
    static constexpr std::size_t max_entries = 2000;

    explicit history_file(std::optional<std::string> path) : path_(std::move(path)) {}

    /// The last entries, oldest first. A file with twice as many entries is truncated.
    [[nodiscard]] std::vector<std::string> load() const;
    /// Appends an entry, unless it looks secret or repeats the one before.
    void add(std::string_view entry);

private:
    std::optional<std::string> path_;
    std::string last_;
};

} // namespace heddle::cli
