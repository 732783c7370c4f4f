// The headings and links of a Markdown page.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::checks {

struct page_link {
    int line = 0;
    std::string target; ///< what is between the parentheses, without a title
};

struct page {
    std::set<std::string, std::less<>> anchors;  ///< of the headings, as GitHub derives them
    std::set<std::string, std::less<>> sections; ///< "4" of the heading "## 4. Tasks and tools"
    std::vector<page_link> links;                ///< outside of code
};

[[nodiscard]] page read_page(std::string_view markdown);

/// For each line whether it belongs to a fenced code block, fences included.
[[nodiscard]] std::vector<bool> fenced_lines(const std::vector<std::string_view>& lines);

} // namespace heddle::checks
