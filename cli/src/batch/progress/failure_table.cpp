#include "batch/progress/failure_table.hpp"

#include "table.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

constexpr std::size_t max_groups = 1000;
constexpr std::size_t max_message = 300; ///< bytes kept of a message
constexpr std::string_view others = "other failures";

/// The message with # in place of each number.
std::string without_numbers(std::string_view message) {
    std::string text;
    for (const char c : message) {
        if (!ascii::is_digit(c)) text += c;
        else if (text.empty() || text.back() != '#') text += '#';
    }
    return text;
}

} // namespace

void failure_table::add(std::string_view reason, std::string_view message, std::string_view id) {
    ++count_;
    const std::string_view kept = utf8::prefix(message, max_message);
    std::string key = std::string(reason) + '\n' + without_numbers(kept);
    if (groups_.size() >= max_groups && !groups_.contains(key)) key = others;
    group& into = groups_[key];
    if (into.rows++ != 0) return;
    const bool is_rest = key == others;
    into.reason = is_rest ? others : reason;
    if (!is_rest) into.message = kept;
    into.first_id = id;
}

std::vector<failure_table::group> failure_table::groups() const {
    std::vector<group> sorted;
    for (const auto& [key, each] : groups_) sorted.push_back(each);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const group& a, const group& b) { return a.rows > b.rows; });
    return sorted;
}

std::string failure_table::text(unsigned columns, std::size_t most) const {
    if (groups_.empty()) return {};
    table lines;
    for (const char* heading : {"rows", "reason", "message", "first"}) lines.column(heading);
    const std::vector<group> sorted = groups();
    for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) {
        const group& each = sorted[i];
        lines.add({setup::grouped(each.rows), each.reason, each.message, each.first_id});
    }
    std::string text = lines.text(columns);
    if (sorted.size() > most) {
        text += "… and " + setup::counted(sorted.size() - most, "further reason") + "\n";
    }
    return text;
}

} // namespace heddle::cli
