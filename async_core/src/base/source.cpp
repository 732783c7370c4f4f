#include <heddle/base/source.hpp>

#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <limits>

namespace heddle {

namespace {

std::uint32_t code_points(std::string_view text) {
    return static_cast<std::uint32_t>(utf8::count(text));
}

constexpr std::size_t block_size = 4096;
constexpr std::size_t max_generated_bytes = 1024 * 1024;
constexpr std::size_t max_generated_texts = 4096;
constexpr std::uint64_t max_generated_positions = 3ULL * 1024 * 1024 * 1024;

/// Where the characters of the line that begins at `line_begin` begin.
std::size_t behind_mark(std::string_view text, std::size_t line_begin) noexcept {
    const bool marked = line_begin == 0 && text.starts_with(utf8::byte_order_mark);
    return marked ? utf8::byte_order_mark.size() : line_begin;
}

} // namespace

std::uint32_t columns_before(std::string_view text, std::size_t line_begin,
                             std::size_t offset) noexcept {
    const std::size_t begin = behind_mark(text, line_begin);
    return offset <= begin ? 0 : code_points(text.substr(begin, offset - begin));
}

text_place place_of_byte(std::string_view text, std::size_t offset) noexcept {
    const std::string_view before = text.substr(0, offset);
    const std::size_t line_end = before.rfind('\n');
    const std::size_t line_begin = line_end == std::string_view::npos ? 0 : line_end + 1;
    const auto lines = std::count(before.begin(), before.end(), '\n');
    return {static_cast<std::uint32_t>(lines) + 1,
            columns_before(text, line_begin, before.size()) + 1};
}

source_map::entry::entry(std::uint32_t first, std::string display_name, std::string whole,
                         std::uint32_t line)
    : begin(first), name(std::move(display_name)), text(std::move(whole)), first_line(line) {
    blocks.reserve(text.size() / block_size + 1);
    blocks.emplace_back();
    for (std::size_t end = block_size; end <= text.size(); end += block_size)
        blocks.push_back(before(end));
}

source_map::block source_map::entry::before(std::size_t offset) const noexcept {
    const std::size_t nearest = std::min(offset / block_size, blocks.size() - 1);
    block found = blocks[nearest];
    const std::size_t from = nearest * block_size;
    const std::string_view part = std::string_view(text).substr(from, offset - from);
    found.lines += static_cast<std::uint32_t>(std::count(part.begin(), part.end(), '\n'));
    found.code_points += code_points(part);
    if (const std::size_t last = part.rfind('\n'); last != std::string_view::npos)
        found.line_begin = static_cast<std::uint32_t>(from + last + 1);
    return found;
}

text_place source_map::entry::place_of_byte(std::size_t offset) const noexcept {
    const block here = before(offset);
    const std::size_t line_begin = behind_mark(text, here.line_begin);
    const std::uint32_t column =
        offset <= line_begin ? 0 : here.code_points - before(line_begin).code_points;
    return {first_line + here.lines, column + 1};
}

std::uint32_t source_map::add(std::string name, std::string text, std::uint32_t first_line) {
    const std::uint64_t begin = next_;
    if (begin + text.size() + 1 > std::numeric_limits<std::uint32_t>::max()) return 0;
    next_ += text.size() + 1; // one past the end is a position too: "expected ) here"
    const auto first = static_cast<std::uint32_t>(begin);
    entries_.emplace_hint(entries_.end(), first,
                          entry(first, std::move(name), std::move(text), first_line));
    return first;
}

std::uint32_t source_map::add_generated(std::string name, std::string text) {
    // The last part of the positions is for files.
    if (next_ + text.size() > max_generated_positions || !keeps_generated(text.size())) return 0;
    const std::size_t size = text.size();
    const std::uint32_t first = add(std::move(name), std::move(text));
    generated_.push_back(first);
    generated_bytes_ += size;
    while (generated_bytes_ > max_generated_bytes || generated_.size() > max_generated_texts) {
        const auto oldest = entries_.find(generated_.front());
        generated_.pop_front();
        generated_bytes_ -= oldest->second.text.size();
        entries_.erase(oldest);
    }
    return first;
}

bool source_map::keeps_generated(std::size_t bytes) noexcept {
    return bytes <= max_generated_bytes;
}

const source_map::entry* source_map::find(std::uint32_t position) const {
    if (base_ && position < first_) return base_->find(position);
    const auto after = entries_.upper_bound(position);
    if (position == 0 || after == entries_.begin()) return nullptr;
    const entry& found = std::prev(after)->second;
    return position - found.begin <= found.text.size() ? &found : nullptr;
}

source_place source_map::place_of(source_span span) const {
    const entry* source = find(span.begin);
    if (!source) return {};
    const text_place place = source->place_of_byte(span.begin - source->begin);
    return {source->name, place.line, place.column};
}

source_location source_map::locate(source_span span) const {
    source_location place;
    const entry* source = find(span.begin);
    if (!source) return place;
    const std::string_view text = source->text;
    const std::size_t offset = span.begin - source->begin;
    const std::size_t line_begin = source->before(offset).line_begin;
    std::size_t line_end = text.find('\n', offset);
    if (line_end == std::string_view::npos) line_end = text.size();
    place.file = source->name;
    const text_place begin = source->place_of_byte(offset);
    place.line = begin.line;
    place.column = begin.column;
    place.mark_begin = begin.column - 1;
    const std::size_t first = std::min(behind_mark(text, line_begin), line_end);
    std::string_view line = text.substr(first, line_end - first);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    place.line_text = line;
    const std::size_t mark_end = std::min<std::size_t>(
        line_end, span.end > span.begin ? span.end - source->begin : offset + 1);
    place.mark_length =
        std::max(1U, mark_end > offset ? code_points(text.substr(offset, mark_end - offset)) : 1U);
    return place;
}

std::string_view source_map::text(source_span span) const {
    const entry* source = find(span.begin);
    if (!source || span.end < span.begin) return {};
    return std::string_view(source->text).substr(span.begin - source->begin, span.end - span.begin);
}

void source_map::drop_last(std::uint32_t first_position) {
    const auto found = entries_.find(first_position);
    if (found == entries_.end()) return;
    if (std::next(found) == entries_.end()) next_ = found->first;
    const auto generated = std::lower_bound(generated_.begin(), generated_.end(), first_position);
    if (generated != generated_.end() && *generated == first_position) {
        generated_bytes_ -= found->second.text.size();
        generated_.erase(generated);
    }
    entries_.erase(found);
}

} // namespace heddle
