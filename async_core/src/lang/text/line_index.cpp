#include "lang/text/line_index.hpp"

#include <heddle/base/source.hpp>

#include <algorithm>

namespace heddle::lang {

line_index::line_index(std::string_view text, std::uint32_t position)
    : text_(text), position_(position), lines_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') lines_.push_back(static_cast<std::uint32_t>(i + 1));
    }
}

std::uint32_t line_index::line_at(std::uint32_t position) const {
    if (position_ == 0 || position < position_ || position - position_ > text_.size()) return 0;
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), position - position_);
    return static_cast<std::uint32_t>(after - lines_.begin());
}

line_index::place line_index::at(std::uint32_t position) const {
    const std::uint32_t line = line_at(position);
    if (line == 0) return {};
    return {line, columns_before(text_, lines_[line - 1], position - position_) + 1};
}

std::string line_index::text_of(std::uint32_t position) const {
    const place found = at(position);
    if (found.line == 0) return {};
    return std::to_string(found.line) + ":" + std::to_string(found.column);
}

} // namespace heddle::lang
