// Services that a configuration names without a section.
#pragma once

#include <heddle/setup/config/configuration.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

inline constexpr std::string_view scripted_name = "scripted";

/// The part before the colon of "provider:model", if there is one. Pure.
[[nodiscard]] std::optional<std::string> provider_of(std::string_view model);

/// The services that models, aliases and routes name, and by whom: the user by their own file, an
/// option or a variable; the project if only its file names a service. Copies its arguments.
class named_services {
public:
    /// `typed` is the model of an option or a variable, which replaces that of all files.
    named_services(const configuration& all, const std::optional<std::string>& typed);

    /// The names among them that are known types of services ("groq"), sorted.
    [[nodiscard]] std::vector<std::string> known() const;
    /// Those that the user names, by their own file, an option or a variable.
    [[nodiscard]] const std::set<std::string, std::less<>>& of_user() const noexcept {
        return of_user_;
    }
    /// Whether the user names a model without its service.
    [[nodiscard]] bool user_names_none() const noexcept { return user_names_none_; }
    /// Where the file of the project names the service. Without a file: it does not, or the user
    /// names it too.
    [[nodiscard]] config_place place_of(std::string_view name) const;

private:
    void add(std::string_view model, const config_place* project_place);
    void add_all(const configuration& settings, const std::string* project_file);

    std::set<std::string, std::less<>> other_names_; // of aliases and routes
    std::set<std::string, std::less<>> configured_;
    std::set<std::string, std::less<>> of_user_;
    std::map<std::string, config_place, std::less<>> of_project_;
    // A model without a service is sent to one that is available without being named.
    bool user_names_none_ = false;
    std::optional<config_place> project_names_none_;
};

} // namespace heddle::setup
