// Lines and columns of many places in one text.
#pragma once

#include <heddle/base/source.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// source_map::locate looks through a text for each place; this looks through it once. The text
/// must outlive it.
class line_index {
public:
    struct place {
        std::uint32_t line = 0; ///< 0: not in this text
        std::uint32_t column = 0;
    };

    /// Of a text that was added to a source_map at `position`.
    line_index(std::string_view text, std::uint32_t position);

    /// Of the byte with that position in the source_map.
    [[nodiscard]] place at(std::uint32_t position) const;
    /// Only the line; 0: not in this text.
    [[nodiscard]] std::uint32_t line_at(std::uint32_t position) const;
    /// "3:14"; empty for what is not in this text.
    [[nodiscard]] std::string text_of(std::uint32_t position) const;

private:
    std::string_view text_;
    std::uint32_t position_;
    std::vector<std::uint32_t> lines_; ///< offsets of their beginnings
};

} // namespace heddle::lang
