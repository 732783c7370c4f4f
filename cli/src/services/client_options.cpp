#include "services/client_options.hpp"

#include <heddle/http/environment.hpp>

namespace heddle::cli {

http::http_client_options client_options(const http_config& settings, const environment& variables,
                                         log_port& log) {
    http::http_client_options made;
    made.log = &log;
    http::apply_environment(
        made, [&](std::string_view name) { return variables.variable(std::string(name)); });
    if (made.http_proxy.empty() && settings.http_proxy) {
        made.http_proxy = secret(*settings.http_proxy);
    }
    if (made.https_proxy.empty() && settings.https_proxy) {
        made.https_proxy = secret(*settings.https_proxy);
    }
    if (made.no_proxy.empty()) made.no_proxy = settings.no_proxy.value_or("");
    if (made.ca_file.empty()) made.ca_file = settings.ca_file.value_or("");
    if (made.ca_directory.empty()) made.ca_directory = settings.ca_directory.value_or("");
    made.user_agent = settings.user_agent.value_or(std::string("heddle/") + HEDDLE_VERSION);
    if (settings.max_connections) {
        made.max_connections = static_cast<std::size_t>(*settings.max_connections);
    }
    return made;
}

} // namespace heddle::cli
