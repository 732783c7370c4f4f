#include <heddle/setup/environment.hpp>

#include <cstdlib>

namespace heddle::setup {

namespace {

std::optional<std::string> process_variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    if (!value || *value == '\0') return std::nullopt;
    return std::string(value);
}

/// `own`, when it is absolute, else `usual` in the user's folder.
std::optional<std::string> below(const std::optional<std::string>& own,
                                 const std::optional<std::string>& home, const char* usual) {
    if (own && own->starts_with('/')) return own;
    if (home && home->starts_with('/')) return *home + "/" + usual;
    return std::nullopt;
}

} // namespace

std::optional<std::string> environment::variable(const std::string& name) const {
    if (name == "OPENAI_API_KEY") {
        if (openai_api_key.empty()) return std::nullopt;
        return std::string(openai_api_key.reveal());
    }
    if (name == "OPENAI_BASE_URL") return openai_base_url;
    return lookup ? lookup(name) : std::nullopt;
}

secret environment::key(const std::string& name) const {
    if (name == "OPENAI_API_KEY") return openai_api_key;
    auto found = variable(name);
    return found ? secret(*std::move(found)) : secret();
}

std::optional<std::string> environment::config_folder() const {
    return below(config_home, home, ".config");
}

std::optional<std::string> environment::cache_folder() const {
    const auto folder = below(cache_home, home, ".cache");
    return folder ? std::optional(*folder + "/heddle") : std::nullopt;
}

std::optional<std::string> environment::state_folder() const {
    const auto folder = below(state_home, home, ".local/state");
    return folder ? std::optional(*folder + "/heddle") : std::nullopt;
}

environment environment::of_process() {
    environment result;
    if (const char* key = std::getenv("OPENAI_API_KEY")) result.openai_api_key = secret(key);
    result.openai_base_url = process_variable("OPENAI_BASE_URL");
    result.model = process_variable("HEDDLE_MODEL");
    result.state_home = process_variable("XDG_STATE_HOME");
    result.config_home = process_variable("XDG_CONFIG_HOME");
    result.cache_home = process_variable("XDG_CACHE_HOME");
    result.home = process_variable("HOME");
    result.lookup = process_variable;
    return result;
}

} // namespace heddle::setup
