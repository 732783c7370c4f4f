// The variables that heddle reads, taken once at the start.
#pragma once

#include <heddle/base/secret.hpp>
#include <heddle/http/client.hpp>

#include <optional>
#include <string>

namespace heddle::cli {

struct environment {
    secret openai_api_key;                      ///< OPENAI_API_KEY
    std::optional<std::string> openai_base_url; ///< OPENAI_BASE_URL
    std::optional<std::string> model;           ///< HEDDLE_MODEL: MODEL or PROVIDER:MODEL

    http::http_client_options http; ///< proxies and certificates, see http::apply_environment

    std::optional<std::string> state_home; ///< XDG_STATE_HOME
    std::optional<std::string> home;       ///< HOME

    /// Empty variables count as not set.
    [[nodiscard]] static environment of_process();
};

} // namespace heddle::cli
