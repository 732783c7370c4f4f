// The special forms of all families.
#include "special_form.hpp"

#include "lang/machine/with_settings.hpp"

#include <heddle/lang/compile.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace heddle::lang {

namespace {

/// The row's own words and the table of settings.
std::string summary_of_with(std::string_view words) {
    std::string summary(words);
    std::string between = " Known are ";
    for (const with_setting& each : with_settings()) {
        summary += between + std::string(each.name) + " (" + std::string(each.documentation) + ")";
        between = ", ";
    }
    return summary + ".";
}

/// The rows of all files.
struct form_table {
    std::vector<special_form> documented; ///< by family
    std::vector<special_form> by_name;
    std::string of_with;

    form_table() {
        static constexpr std::array<std::string_view, 6> families{
            "data", "binding", "control", "concurrency", "tasks", "code"};
        for (const auto rows : {data_forms(), binding_forms(), control_forms(), concurrency_forms(),
                                host_forms(), loop_forms(), eval_forms(), macro_forms()}) {
            by_name.insert(by_name.end(), rows.begin(), rows.end());
        }
        for (special_form& row : by_name) {
            if (row.name != "with") continue;
            of_with = summary_of_with(row.summary);
            row.summary = of_with;
        }
        for (const std::string_view family : families) {
            for (const special_form& row : by_name) {
                if (row.family == family) documented.push_back(row);
            }
        }
        std::sort(by_name.begin(), by_name.end(),
                  [](const special_form& a, const special_form& b) { return a.name < b.name; });
    }
};

const form_table& table() noexcept {
    static const form_table all;
    return all;
}

} // namespace

std::span<const special_form> special_forms() noexcept { return table().by_name; }

std::span<const special_form> documented_forms() noexcept { return table().documented; }

const special_form* find_special_form(std::string_view name) noexcept {
    const auto& rows = table().by_name;
    const auto found = std::lower_bound(
        rows.begin(), rows.end(), name,
        [](const special_form& row, std::string_view wanted) { return row.name < wanted; });
    return found == rows.end() || found->name != name ? nullptr : &*found;
}

bool is_special_form(std::string_view name) noexcept { return find_special_form(name) != nullptr; }

} // namespace heddle::lang
