// What a .gitignore file leaves out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::memory {

/// One pattern of a .gitignore file, compiled. `*` and `?` stop at a slash, `**` between slashes is
/// any number of folders, `[…]` a class of bytes (ranges, `!` or `^`, [:alpha:] and its kin), `\`
/// takes the next character as it is. A slash at the beginning or inside ties the pattern to the
/// folder of the file; one at the end makes it mean folders only.
class ignore_pattern {
public:
    /// Nothing for an empty line and a comment, and for a line longer than longest.
    [[nodiscard]] static std::optional<ignore_pattern> parse(std::string_view line);

    /// `path` is relative to the folder of the file, without a slash at its ends. No pattern takes
    /// more than the product of its length and the path's.
    [[nodiscard]] bool matches(std::string_view path, bool is_folder) const;
    /// `!pattern`: takes in again what an earlier one left out.
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
    bool by_name_ = false; ///< one part, in any folder: only the last name counts
};

/// The patterns of one file.
class ignore_list {
public:
    enum class verdict { none, ignored, kept };

    ignore_list() = default;
    /// Lines end in \n or \r\n. What is above max_patterns is left out.
    explicit ignore_list(std::string_view text);

    /// What the last pattern that matches says. `path` as in ignore_pattern::matches.
    [[nodiscard]] verdict look_up(std::string_view path, bool is_folder) const;
    [[nodiscard]] bool empty() const noexcept { return patterns_.empty(); }

    static constexpr std::size_t max_patterns = 10'000;

private:
    std::vector<ignore_pattern> patterns_;
};

} // namespace heddle::memory
