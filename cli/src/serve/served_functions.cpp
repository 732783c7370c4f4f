#include "serve/served_functions.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace heddle::cli {

namespace {

bool is_private(std::string_view name) noexcept {
    return name.starts_with('%') || name.starts_with('-');
}

} // namespace

result<served_functions> served_functions::load(runtime& in,
                                                const std::vector<std::string>& files) {
    served_functions found;
    std::vector<std::string> stems; // of the functions
    std::map<std::string, std::size_t> counts;
    for (const std::string& file : files) {
        HEDDLE_TRY(const heddle::program loaded, in.load(file));
        for (function_signature& each : loaded.functions()) {
            if (is_private(each.name)) continue;
            ++counts[each.name];
            std::string name = each.name;
            found.all_.push_back({std::move(name), loaded, std::move(each)});
            stems.push_back(std::filesystem::path(file).stem().string());
        }
    }
    for (std::size_t i = 0; i < found.all_.size(); ++i) {
        served_function& each = found.all_[i];
        if (counts[each.name] > 1) each.name = stems[i] + "/" + each.name;
    }
    std::sort(found.all_.begin(), found.all_.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    const auto twice = std::adjacent_find(
        found.all_.begin(), found.all_.end(),
        [](const auto& one, const auto& other) { return one.name == other.name; });
    if (twice != found.all_.end()) {
        return error(errc::invalid_argument, "two files define " + twice->name)
            .with_hint("rename one of the files, or the function");
    }
    if (found.all_.empty()) {
        return error(errc::invalid_argument, "there is no function to serve")
            .with_hint("define one with (define (name parameter …) …)");
    }
    return found;
}

const served_function* served_functions::find(std::string_view name) const noexcept {
    const auto place = std::lower_bound(
        all_.begin(), all_.end(), name,
        [](const served_function& each, std::string_view wanted) { return each.name < wanted; });
    return place != all_.end() && place->name == name ? &*place : nullptr;
}

} // namespace heddle::cli
