#include "batch/rows/needed_columns.hpp"

#include <heddle/lang/realm.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

constexpr std::size_t max_shown = 20;

std::string hint_of(const std::string& missing, const std::vector<std::string>& columns) {
    std::string text = "the columns are: ";
    for (std::size_t i = 0; i < std::min(max_shown, columns.size()); ++i)
        text += (i == 0 ? "" : ", ") + columns[i];
    if (columns.size() > max_shown) text += ", …";
    const std::string near = lang::suggest_names(missing, columns);
    return near.empty() ? text : text + "; " + near;
}

} // namespace

result<void> needed_columns::look(const std::vector<std::string>& columns) const {
    const auto lacks = [&](const std::string& name) {
        return std::find(columns.begin(), columns.end(), name) == columns.end();
    };
    if (const auto each = std::find_if(of_main.begin(), of_main.end(), lacks);
        each != of_main.end()) {
        return error(errc::invalid_argument,
                     "no column has the name " + *each + ", which main needs")
            .with_hint(hint_of(*each, columns) + "; one value for all rows: --input " + *each +
                       "=…");
    }
    if (const auto each = std::find_if(of_filter.begin(), of_filter.end(), lacks);
        each != of_filter.end()) {
        return error(errc::invalid_argument,
                     "no column has the name " + *each + ", which --where needs")
            .with_hint(hint_of(*each, columns));
    }
    return {};
}

} // namespace heddle::cli
