// The environment variables of heddle, read once at the start.
#pragma once

#include <heddle/base/secret.hpp>

#include <functional>
#include <optional>
#include <string>

namespace heddle::setup {

struct environment {
    secret openai_api_key;                      ///< OPENAI_API_KEY
    std::optional<std::string> openai_base_url; ///< OPENAI_BASE_URL
    std::optional<std::string> model;           ///< HEDDLE_MODEL: MODEL or PROVIDER:MODEL

    std::optional<std::string> state_home;  ///< XDG_STATE_HOME
    std::optional<std::string> config_home; ///< XDG_CONFIG_HOME
    std::optional<std::string> cache_home;  ///< XDG_CACHE_HOME
    std::optional<std::string> home;        ///< HOME

    /// Any other variable; empty counts as unset. May be null: there are none.
    std::function<std::optional<std::string>(const std::string& name)> lookup;

    /// Variables that hold keys or addresses of services, named by a table or by heddle.toml.
    [[nodiscard]] std::optional<std::string> variable(const std::string& name) const;
    [[nodiscard]] secret key(const std::string& name) const;
    /// The folder of the user's heddle.toml: XDG_CONFIG_HOME, else HOME/.config. As in the XDG
    /// specification, relative paths are ignored in these three variables: they would depend on the
    /// current folder.
    [[nodiscard]] std::optional<std::string> config_folder() const;
    /// XDG_CACHE_HOME/heddle, else HOME/.cache/heddle.
    [[nodiscard]] std::optional<std::string> cache_folder() const;
    /// XDG_STATE_HOME/heddle, else HOME/.local/state/heddle.
    [[nodiscard]] std::optional<std::string> state_folder() const;

    /// Empty variables count as unset.
    [[nodiscard]] static environment of_process();
};

} // namespace heddle::setup
