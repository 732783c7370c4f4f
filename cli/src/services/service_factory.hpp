// Services out of their settings.
#pragma once

#include "config/configuration.hpp"
#include "environment.hpp"
#include "trust/consent_store.hpp"

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::cli {

/// What all services of a run share. Everything outlives them.
struct service_parts {
    ports::http_port& http;
    coro::event_loop& loop;
    log_port& log;
    providers::limiter_set& limiters;
    const environment& variables;
    const configuration& settings; ///< all of it, to judge what a project's file brings about
    std::uint64_t seed = 0;
    const consent_store* consents = nullptr; ///< null: nothing is allowed
};

/// A service as it is configured, whether or not it can be used.
struct configured_service {
    std::string name;
    std::string type; ///< "openai", "anthropic", the name of a preset, …
    std::string base_url;
    secret key;           ///< for redaction; empty: there is none
    std::string key_from; ///< where the key came from, in words; empty: there is none
    std::string
        withheld_key; ///< what the key is called that the user has not allowed for the address
    bool needs_key = false;
    /// Service and account: responses of one are no responses of another. Holds no key.
    std::string identity;
    std::optional<error> failure; ///< why it cannot be used; then `provider` is null
    std::unique_ptr<providers::http_chat_provider> provider;
};

/// Makes the service that `settings` describe. A type that is empty is the name. Never fails: what
/// is wrong stands in `failure`.
[[nodiscard]] configured_service make_service(const provider_config& settings,
                                              const service_parts& parts);

} // namespace heddle::cli
