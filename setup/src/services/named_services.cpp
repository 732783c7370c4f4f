#include <heddle/setup/services/named_services.hpp>

#include <heddle/setup/config/service_types.hpp>

#include <algorithm>

namespace heddle::setup {

std::optional<std::string> provider_of(std::string_view model) {
    const std::size_t colon = model.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    return std::string(model.substr(0, colon));
}

named_services::named_services(const configuration& all, const std::optional<std::string>& typed) {
    for (const alias_config& each : all.aliases) other_names_.insert(each.name);
    for (const route_config& each : all.routes) other_names_.insert(each.name);
    for (const provider_config& each : all.providers) configured_.insert(each.name);
    configured_.emplace(scripted_name);
    if (typed) add(*typed, nullptr);
    if (all.without_project) {
        add_all(*all.without_project, nullptr);
        if (const auto& model = all.without_project->model) add(*model, nullptr);
    }
    const std::string* const project_file = all.without_project ? &all.project_file : nullptr;
    add_all(all, project_file);
    if (!all.model || typed) return;
    const bool of_project = project_file && all.model_place.file == *project_file;
    add(*all.model, of_project ? &all.model_place : nullptr);
}

void named_services::add_all(const configuration& settings, const std::string* project_file) {
    const auto project_place = [&](const config_place& place) {
        return project_file && place.file == *project_file ? &place : nullptr;
    };
    for (const alias_config& each : settings.aliases) add(each.model, project_place(each.place));
    for (const route_config& each : settings.routes) {
        for (const std::string& model : each.models) add(model, project_place(each.place));
    }
}

void named_services::add(std::string_view model, const config_place* project_place) {
    if (other_names_.contains(model)) return;
    const auto name = provider_of(model);
    if (name && (is_service_type(*name) || configured_.contains(*name))) {
        if (project_place) of_project_.emplace(*name, *project_place);
        else of_user_.insert(*name);
        return;
    }
    if (!project_place) user_names_none_ = true;
    else if (!project_names_none_) project_names_none_ = *project_place;
}

std::vector<std::string> named_services::known() const {
    std::set<std::string> names;
    const auto add_known = [&](const std::string& name) {
        if (is_service_type(name)) names.insert(name);
    };
    for (const std::string& name : of_user_) add_known(name);
    for (const auto& each : of_project_) add_known(each.first);
    return {names.begin(), names.end()};
}

config_place named_services::place_of(std::string_view name) const {
    if (of_user_.contains(name)) return {};
    const auto found = of_project_.find(name);
    if (found != of_project_.end()) return found->second;
    const auto& usual = usual_services();
    const bool is_usual =
        std::any_of(usual.begin(), usual.end(),
                    [name](const usual_service& each) { return each.name == name; });
    if (is_usual && !user_names_none_ && project_names_none_) return *project_names_none_;
    return {};
}

} // namespace heddle::setup
