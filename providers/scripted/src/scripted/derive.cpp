#include "scripted/derive.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>

namespace heddle::scripted {

namespace {

constexpr std::size_t max_matches = 100'000;

std::size_t line_begin(std::string_view text, std::size_t at) noexcept {
    const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
}

/// The place after the line feed of the line that holds `at`.
std::size_t line_end(std::string_view text, std::size_t at) noexcept {
    const std::size_t feed = text.find('\n', at);
    return feed == std::string_view::npos ? text.size() : feed + 1;
}

std::string_view indent_of(std::string_view line) noexcept {
    std::size_t size = 0;
    while (size < line.size() && (line[size] == ' ' || line[size] == '\t')) ++size;
    return line.substr(0, size);
}

std::string_view without_blank_end(std::string_view text) noexcept {
    while (!text.empty() && ascii::is_blank(text.back())) text.remove_suffix(1);
    return text;
}

bool closes(std::string_view line) noexcept {
    line.remove_prefix(indent_of(line).size());
    if (line.starts_with('}')) return true;
    return line.starts_with("end") &&
           (line.size() == 3 || ascii::is_blank(line[3]) || line[3] == ';');
}

/// The text of the block that begins at `begin` and whose header ends at `header_end`, within
/// `text` up to `limit`.
std::string_view block_at(std::string_view text, std::size_t begin, std::size_t header_end,
                          std::size_t limit) {
    std::size_t at = std::min(line_end(text, header_end == begin ? begin : header_end - 1), limit);
    const std::string_view header = text.substr(begin, at - begin);
    const auto opened = std::count(header.begin(), header.end(), '{');
    if (opened > 0 && opened == std::count(header.begin(), header.end(), '}')) return header;

    const std::string_view indent = indent_of(header);
    const bool by_indent = without_blank_end(header).ends_with(':');
    while (at < limit) {
        const std::size_t next = std::min(line_end(text, at), limit);
        const std::string_view line = text.substr(at, next - at);
        const std::string_view own = indent_of(line);
        const bool empty = without_blank_end(line).empty();
        if (!empty && own == indent && closes(line)) return text.substr(begin, next - begin);
        const bool ends = own.size() < indent.size() || (by_indent && own.size() == indent.size());
        if (!empty && ends && line[own.size()] != '#') break;
        at = next;
    }
    return without_blank_end(text.substr(begin, at - begin));
}

} // namespace

std::size_t count_lines(std::string_view text) noexcept {
    const auto feeds = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    return feeds + (!text.empty() && text.back() != '\n' ? 1 : 0);
}

std::size_t count_words(std::string_view text) noexcept {
    std::size_t words = 0;
    bool inside = false;
    for (const char c : text) {
        const bool blank = ascii::is_blank(c);
        if (!blank && !inside) ++words;
        inside = !blank;
    }
    return words;
}

std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

std::vector<found> find_all(const re2::RE2& expression, std::string_view text) {
    std::vector<found> matches;
    re2::StringPiece groups[2];
    const int wanted = expression.NumberOfCapturingGroups() > 0 ? 2 : 1;
    const re2::StringPiece whole(text.data(), text.size());
    std::size_t at = 0;
    while (at <= text.size() && matches.size() < max_matches) {
        if (!expression.Match(whole, at, text.size(), re2::RE2::UNANCHORED, groups, wanted)) break;
        found match;
        match.begin = static_cast<std::size_t>(groups[0].data() - text.data());
        match.end = match.begin + groups[0].size();
        const re2::StringPiece& value = groups[wanted - 1];
        if (value.data()) match.value = {value.data(), value.size()};
        matches.push_back(match);
        at = match.end;
        if (groups[0].empty()) { // goes on behind the next character
            at += at < text.size() ? utf8::decode(text, at).bytes : 1;
        }
    }
    return matches;
}

text_block longest_block(const re2::RE2& header, std::string_view text) {
    const std::vector<found> headers = find_all(header, text);
    const auto begin_of = [&](const found& match) {
        std::size_t first = match.begin; // (?m)^\s* takes the blank lines before a header too
        while (first < match.end && ascii::is_blank(text[first])) ++first;
        return line_begin(text, first);
    };
    text_block longest;
    for (std::size_t i = 0; i < headers.size(); ++i) {
        const std::size_t begin = begin_of(headers[i]);
        std::size_t limit = text.size();
        if (i + 1 < headers.size()) limit = std::max(begin_of(headers[i + 1]), begin);
        if (limit == begin) continue; // two headers in one line: the second has it
        const std::string_view block = block_at(text, begin, headers[i].end, limit);
        const std::size_t lines = count_lines(block);
        if (lines > longest.lines) longest = {headers[i].value, lines};
    }
    return longest;
}

} // namespace heddle::scripted
