#include "environment.hpp"

#include <heddle/http/environment.hpp>

#include <cstdlib>

namespace heddle::cli {

namespace {

std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    if (!value || *value == '\0') return std::nullopt;
    return std::string(value);
}

} // namespace

environment environment::of_process() {
    environment made;
    if (const char* key = std::getenv("OPENAI_API_KEY")) made.openai_api_key = secret(key);
    made.openai_base_url = variable("OPENAI_BASE_URL");
    made.model = variable("HEDDLE_MODEL");
    http::apply_environment(
        made.http, [](std::string_view name) { return variable(std::string(name).c_str()); });
    made.state_home = variable("XDG_STATE_HOME");
    made.home = variable("HOME");
    return made;
}

} // namespace heddle::cli
