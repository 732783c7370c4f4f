#include "page.hpp"

#include "source_file.hpp"

#include <algorithm>
#include <cctype>

namespace heddle::checks {
namespace {

bool is_alnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// "tasks-and-tools" of "Tasks and tools".
std::string anchor_of(std::string_view heading) {
    std::string anchor;
    for (const char c : heading) {
        if (c == ' ') anchor += '-';
        if (is_alnum(c) || c == '-' || c == '_') {
            anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return anchor;
}

/// "4" of "4. Tasks and tools", "4.2" of "4.2 Tools"; empty without a number.
std::string_view section_number(std::string_view heading) {
    const auto end = std::min(heading.find_first_not_of("0123456789."), heading.size());
    auto number = heading.substr(0, end);
    while (number.ends_with('.')) number.remove_suffix(1);
    return number;
}

void add_heading(page& into, std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of('#'), line.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const auto number = section_number(line);
    if (!number.empty()) into.sections.emplace(number);
    const auto anchor = anchor_of(line);
    auto unique = anchor;
    for (int copy = 1; !into.anchors.insert(unique).second; ++copy) {
        unique = anchor + '-' + std::to_string(copy);
    }
}

void add_links(page& into, std::string_view line, int number) {
    bool in_code = false;
    for (std::size_t at = 0; at < line.size(); ++at) {
        if (line[at] == '`') in_code = !in_code;
        if (in_code || !line.substr(at).starts_with("](")) continue;
        const auto close = line.find(')', at);
        if (close == std::string_view::npos) return;
        auto target = line.substr(at + 2, close - at - 2);
        target = target.substr(0, target.find(' ')); // a title follows
        into.links.push_back({number, std::string(target)});
    }
}

} // namespace

std::vector<bool> fenced_lines(const std::vector<std::string_view>& lines) {
    std::vector<bool> fenced;
    fenced.reserve(lines.size());
    bool inside = false;
    for (auto line : lines) {
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        const bool fence = line.starts_with("```");
        fenced.push_back(inside || fence);
        if (fence) inside = !inside;
    }
    return fenced;
}

page read_page(std::string_view markdown) {
    page result;
    const auto lines = split_lines(markdown);
    const auto fenced = fenced_lines(lines);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (fenced[i]) continue;
        if (lines[i].starts_with('#')) add_heading(result, lines[i]);
        add_links(result, lines[i], static_cast<int>(i + 1));
    }
    return result;
}

} // namespace heddle::checks
