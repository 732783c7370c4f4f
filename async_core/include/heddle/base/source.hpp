// Where text came from: global source positions and the map that resolves them.
#pragma once

#include <heddle/base/visibility.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// A half-open range of bytes in the virtual concatenation of all sources of one source_map (after
/// Nix's PosIdx: four bytes a position, resolved to line and column only when printed). Position 0
/// is never assigned, so a default span means "unknown".
struct source_span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    [[nodiscard]] bool known() const noexcept { return begin != 0; }
    friend bool operator==(source_span, source_span) = default;
};

/// A resolved place: 1-based line, 1-based column counted in code points.
struct source_location {
    std::string file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string line_text;        ///< the whole line, without its end and a byte order mark
    std::uint32_t mark_begin = 0; ///< code points before the marked part of line_text
    std::uint32_t mark_length = 1;
};

/// A line and a column, both from 1, the column in code points.
struct text_place {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

/// Where a span begins: as text_place, in a file. The name is the map's. Line 0: unknown.
struct source_place {
    std::string_view file;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

/// Code points of the line that begins at `line_begin`, up to `offset`. A byte order mark at the
/// beginning of the text is not counted.
[[nodiscard]] std::uint32_t columns_before(std::string_view text, std::size_t line_begin,
                                           std::size_t offset) noexcept;
/// The place of a byte. Linear in the offset: for errors.
[[nodiscard]] text_place place_of_byte(std::string_view text, std::size_t offset) noexcept;

/// Owns the texts that were read and resolves spans into them.
/// Threads: one at a time. Complexity: add is linear in the text; place_of O(log files); locate the
/// same plus the length of the line.
class source_map {
public:
    source_map() = default;
    /// Also resolves what `base` does, and continues its positions. `base` outlives it, and no text
    /// is added to it any more.
    explicit source_map(const source_map* base) : base_(base), first_(base->next_), next_(first_) {}

    /// Takes a copy of `text` under the display name `name`; returns the position of its first
    /// byte. Texts are kept as long as the map: errors raised later still show their line. Returns
    /// 0 when the map is full (4 GiB of text): spans into it are then unknown.
    /// `first_line`: the number of the text's first line, for a part of a longer text.
    std::uint32_t add(std::string name, std::string text, std::uint32_t first_line = 1);

    /// As add, for code that a running program made (parse, eval): only the last mebibyte of such
    /// text is kept, so that a program may make code for ever. Older spans become unknown.
    std::uint32_t add_generated(std::string name, std::string text);
    /// Whether add_generated keeps a source of `bytes` bytes. The caller does not have to copy a
    /// longer one.
    [[nodiscard]] static bool keeps_generated(std::size_t bytes) noexcept;

    /// Where a span begins, without the text of its line. Valid as long as its source.
    [[nodiscard]] source_place place_of(source_span span) const;
    /// The place of a span, or an empty location (line 0) when it is unknown.
    [[nodiscard]] source_location locate(source_span span) const;

    /// The text that a span covers; empty when unknown.
    [[nodiscard]] std::string_view text(source_span span) const;

    /// Drops the last added source again (a short-lived evaluation that left nothing behind).
    void drop_last(std::uint32_t first_position);

private:
    /// What comes before a block of a text, so that no place is counted from its beginning: an
    /// error that is caught has its place, also the last of many in a file.
    struct block {
        std::uint32_t lines = 0;       ///< that have ended
        std::uint32_t code_points = 0; ///< from the beginning of the text
        std::uint32_t line_begin = 0;  ///< of the line in which the block begins
    };
    struct entry {
        entry(std::uint32_t first, std::string display_name, std::string whole, std::uint32_t line);

        std::uint32_t begin;
        std::string name;
        std::string text;
        std::uint32_t first_line;
        std::vector<block> blocks;

        /// What comes before a byte of the text.
        [[nodiscard]] block before(std::size_t offset) const noexcept;
        [[nodiscard]] text_place place_of_byte(std::size_t offset) const noexcept;
    };
    [[nodiscard]] const entry* find(std::uint32_t position) const;

    const source_map* base_ = nullptr;
    std::uint64_t first_ = 1;                ///< position that is not the base's
    std::map<std::uint32_t, entry> entries_; ///< by their first position
    std::uint64_t next_ = 1;
    std::deque<std::uint32_t> generated_; ///< first positions, ascending
    std::size_t generated_bytes_ = 0;
};

} // namespace heddle
