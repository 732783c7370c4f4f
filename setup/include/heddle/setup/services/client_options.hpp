// The options of the HTTP client, from flags, variables and heddle.toml.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/http/client.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/environment.hpp>

namespace heddle::setup {

/// Variables take precedence over heddle.toml. `log` outlives the client. Pure.
[[nodiscard]] http::http_client_options client_options(const http_config& settings,
                                                       const environment& variables, log_port& log);

} // namespace heddle::setup
