// What a rule can find out about a text. All pure.
#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::scripted {

/// Lines of a text; a last one without a line feed counts, an empty one after it does not.
[[nodiscard]] std::size_t count_lines(std::string_view text) noexcept;
/// Runs of anything but blanks.
[[nodiscard]] std::size_t count_words(std::string_view text) noexcept;
/// FNV-1a, 64 bits: the same on every machine.
[[nodiscard]] std::uint64_t hash_of(std::string_view text) noexcept;

/// One match of an expression. `value` is its first group if it has one, else all of it.
struct found {
    std::string_view value;
    std::size_t begin = 0; ///< of the whole match
    std::size_t end = 0;
};

/// All matches from left to right that do not overlap; empty ones included. At most 100,000.
[[nodiscard]] std::vector<found> find_all(const re2::RE2& expression, std::string_view text);

/// A block of lines under a header, as a function is.
struct text_block {
    std::string_view name; ///< the header's first group
    std::size_t lines = 0; ///< 0: there is no header at all
};

/// Among all matches of `header` the block with the most lines; the first of equals. A block begins
/// at the line of its header and ends
///   - with that line if its braces are closed there,
///   - else with the next line at the same indent that begins with "}" or the word "end",
///   - before a line that is indented less (preprocessor lines do not count), or as much if the
///     header ends in ":" as Python's do,
///   - before the next header, or at the end of the text, blank lines left off.
[[nodiscard]] text_block longest_block(const re2::RE2& header, std::string_view text);

} // namespace heddle::scripted
