#include <heddle/setup/services/client_options.hpp>

#include <heddle/http/environment.hpp>

namespace heddle::setup {

http::http_client_options client_options(const http_config& settings, const environment& variables,
                                         log_port& log) {
    http::http_client_options options;
    options.log = &log;
    http::apply_environment(
        options, [&](std::string_view name) { return variables.variable(std::string(name)); });
    if (options.http_proxy.empty() && settings.http_proxy) {
        options.http_proxy = secret(*settings.http_proxy);
    }
    if (options.https_proxy.empty() && settings.https_proxy) {
        options.https_proxy = secret(*settings.https_proxy);
    }
    if (options.no_proxy.empty()) options.no_proxy = settings.no_proxy.value_or("");
    if (options.ca_file.empty()) options.ca_file = settings.ca_file.value_or("");
    if (options.ca_directory.empty()) options.ca_directory = settings.ca_directory.value_or("");
    options.user_agent = settings.user_agent.value_or(std::string("heddle/") + HEDDLE_VERSION);
    if (settings.max_connections) {
        options.max_connections = static_cast<std::size_t>(*settings.max_connections);
    }
    return options;
}

} // namespace heddle::setup
