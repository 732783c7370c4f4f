#include "serve/served_functions.hpp"

#include <heddle/base/ascii.hpp>

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
    bool imports_some = false;
    for (const std::string& file : files) {
        HEDDLE_TRY(const heddle::program loaded, in.load(file));
        for (std::string& each : loaded.tasks()) found.tasks_.insert(std::move(each));
        for (function_signature& each : loaded.functions()) {
            if (is_private(each.name)) continue;
            imports_some = imports_some || each.is_imported;
            if (each.is_imported) continue;
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
            .with_hint(imports_some ? "imported functions are served under a name that is defined "
                                      "here: (define name imported)"
                                    : "define one with (define (name parameter …) …)");
    }
    return found;
}

const served_function* served_functions::find(std::string_view name) const noexcept {
    const auto place = std::lower_bound(
        all_.begin(), all_.end(), name,
        [](const served_function& each, std::string_view wanted) { return each.name < wanted; });
    return place != all_.end() && place->name == name ? &*place : nullptr;
}

result<void> served_functions::check_task(const std::string& name) const {
    if (tasks_.contains(name)) return {};
    std::string hint = "the files define no task";
    if (!tasks_.empty()) {
        const std::vector<std::string> known(tasks_.begin(), tasks_.end());
        hint = "the tasks are: " + ascii::join(known, ", ");
    }
    return error(errc::not_found, "there is no task '" + name + "'").with_hint(std::move(hint));
}

} // namespace heddle::cli
