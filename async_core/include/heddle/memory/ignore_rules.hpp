// The patterns of .gitignore files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::memory {

/// One pattern of a .gitignore file, compiled. `*` and `?` stop at a slash, `**` between slashes
/// matches any number of folders, `[…]` a class of bytes (ranges, `!` or `^`, [:alpha:] and
/// similar), `\` escapes the next character. A slash at the beginning or inside anchors the pattern
/// to the folder of the file; one at the end restricts it to folders.
class ignore_pattern {
public:
    /// Nothing for an empty line, a comment, and a line that is too long.
    [[nodiscard]] static std::optional<ignore_pattern> parse(std::string_view line);

    /// `path` is relative to the folder of the file, without a slash at its ends. Complexity: at
    /// most the product of the lengths of pattern and path.
    [[nodiscard]] bool matches(std::string_view path, bool is_folder) const;
    /// `!pattern`: includes what an earlier pattern excludes.
    [[nodiscard]] bool negated() const noexcept { return negated_; }

    static constexpr std::size_t longest = 1024;

private:
    struct part {
        std::string glob;
        bool any_folders = false; ///< `**`
        bool literal = false;     ///< no wildcard: compared byte by byte
    };

    [[nodiscard]] static bool part_matches(const part& pattern, std::string_view name);

    std::vector<part> parts_;
    bool negated_ = false;
    bool folders_only_ = false;
    bool by_name_ = false; ///< one part, in any folder: only the last name is compared
};

/// The patterns of one file.
class ignore_list {
public:
    enum class verdict { none, ignored, kept };

    ignore_list() = default;
    /// Lines end in \n or \r\n. Patterns beyond max_patterns are ignored.
    explicit ignore_list(std::string_view text);

    /// The verdict of the last pattern that matches. `path`: as in ignore_pattern::matches.
    [[nodiscard]] verdict look_up(std::string_view path, bool is_folder) const;
    [[nodiscard]] bool empty() const noexcept { return patterns_.empty(); }

    static constexpr std::size_t max_patterns = 10'000;

private:
    std::vector<ignore_pattern> patterns_;
};

} // namespace heddle::memory
