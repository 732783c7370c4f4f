#include "table.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/display_width.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace heddle::cli {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t min_width = 8;
constexpr std::size_t max_padding = 200; ///< one long cell does not widen every row

bool looks_like_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return ascii::is_digit(c) || c == '.' || c == ',';
    });
}

std::string padded(std::string text, std::size_t width, bool right) {
    const std::string blanks(width - std::min(width, display_width(text)), ' ');
    return right ? blanks + text : text + blanks;
}

void end_line(std::string& out) {
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
}

} // namespace

void table::add(std::vector<std::string> cells) {
    for (std::string& each : cells) each = utf8::printable_line(each);
    rows_.push_back(std::move(cells));
}

std::size_t table::column(std::string_view text) {
    const auto [at, fresh] = indexes_.try_emplace(utf8::printable_line(text), columns_.size());
    if (fresh) columns_.push_back(at->first);
    return at->second;
}

bool table::is_numeric(std::size_t column) const {
    bool any = false;
    for (const auto& row : rows_) {
        const std::string_view text = cell(row, column);
        if (text.empty()) continue;
        if (!looks_like_number(text)) return false;
        any = true;
    }
    return any;
}

std::vector<std::size_t> table::widths(unsigned limit) const {
    std::vector<std::size_t> items;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = display_width(columns_[i]);
        for (const auto& row : rows_) width = std::max(width, display_width(cell(row, i)));
        items.push_back(width);
    }
    if (limit == 0) {
        for (std::size_t& each : items) each = std::min(each, max_padding);
    }
    if (limit == 0 || items.empty()) return items;
    const std::size_t gaps = gap * (items.size() - 1);
    for (;;) {
        const std::size_t whole = std::accumulate(items.begin(), items.end(), gaps);
        const auto widest = std::max_element(items.begin(), items.end());
        if (whole <= limit || *widest <= min_width) return items;
        *widest -= std::min(*widest - min_width, whole - limit > 8 ? std::size_t{4} : 1);
    }
}

std::string table::text(unsigned width) const { return *text(width, SIZE_MAX); }

std::optional<std::string> table::text(unsigned width, std::size_t max_padded) const {
    const std::vector<std::size_t> wide = widths(width);
    const std::size_t row_width = std::accumulate(wide.begin(), wide.end(), gap * wide.size());
    if (row_width != 0 && rows_.size() > max_padded / row_width) return std::nullopt;
    std::vector<bool> right;
    for (std::size_t i = 0; i < columns_.size(); ++i) right.push_back(is_numeric(i));
    std::string out;
    const auto add_row = [&](const std::vector<std::string>& row) {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (i != 0) out.append(gap, ' ');
            const std::string_view whole = cell(row, i);
            out += padded(width == 0 ? std::string(whole) : setup::cut_to_width(whole, wide[i]),
                          wide[i], right[i]);
        }
        end_line(out);
    };
    add_row(columns_);
    std::vector<std::string> rules;
    rules.reserve(wide.size());
    for (const std::size_t one : wide) rules.emplace_back(one, '-');
    add_row(rules);
    for (const auto& row : rows_) add_row(row);
    return out;
}

} // namespace heddle::cli
