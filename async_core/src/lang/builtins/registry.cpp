#include <heddle/lang/builtin.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace heddle::lang {

namespace {

/// All rows, ordered by name.
[[nodiscard]] std::vector<const builtin*> sorted_rows() {
    std::vector<const builtin*> rows;
    for (const auto family : builtin_families()) {
        for (const builtin& row : family) rows.push_back(&row);
    }
    std::sort(rows.begin(), rows.end(),
              [](const builtin* x, const builtin* y) { return x->name < y->name; });
    return rows;
}

} // namespace

std::span<const std::span<const builtin>> builtin_families() noexcept {
    static const std::array families{number_builtins(),  string_builtins(),     regex_builtins(),
                                     list_builtins(),    map_builtins(),        data_builtins(),
                                     control_builtins(), concurrency_builtins()};
    return families;
}

const builtin* find_builtin(std::string_view name) noexcept {
    static const std::vector<const builtin*> rows = sorted_rows();
    const auto at = std::lower_bound(
        rows.begin(), rows.end(), name,
        [](const builtin* row, std::string_view wanted) { return row->name < wanted; });
    return at != rows.end() && (*at)->name == name ? *at : nullptr;
}

} // namespace heddle::lang
