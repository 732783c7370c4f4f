// Creates services from their settings.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/batch/batch_endpoint.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/limits/limiter_gate.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/trust/consent_store.hpp>
#include <heddle/tasks/run/model_registry.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::setup {

/// The parts that all services of a run share. All of them outlive the services.
struct service_parts {
    ports::http_port& http;
    coro::event_loop& loop;
    log_port& log;
    providers::limiter_set& limiters;
    const environment& variables;
    const configuration& settings; ///< all of it, to judge the effect of a project's file
    std::uint64_t seed = 0;
    const consent_store* consents = nullptr; ///< null: nothing is allowed
    bool without_keys = false; ///< nothing is sent to the services: no key is looked for
    bool batches = false;      ///< requests may wait for batches
};

/// A service as it is configured, whether or not it can be used.
struct configured_service {
    std::string name;
    std::string type; ///< "openai", "anthropic", the name of a preset, …
    std::string base_url;
    secret key;               ///< for redaction; empty: none
    std::string key_from;     ///< the source of the key, in words; empty: none
    std::string withheld_key; ///< name of a key that the user has not allowed for the address
    bool needs_key = false;
    std::optional<std::vector<std::string>> models; ///< prefixes of those that it accepts
    config_place models_place;                      ///< of that list
    /// Identifies service and account, because responses of one are not valid for another. Contains
    /// no key.
    std::string identity;
    std::optional<error> failure; ///< why it cannot be used; then `provider` is null
    std::unique_ptr<providers::http_chat_provider> provider;
    std::unique_ptr<providers::batch_endpoint> batches; ///< null: it takes none, or none are wanted
};

/// Which of its model names may have a colon; nothing: any. A misspelt service must not make its
/// request go to this one.
[[nodiscard]] std::optional<tasks::names_with_colon> names_with_colon_of(
    const configured_service& service);

/// Creates the service of `settings`. An empty type is the name. Never fails: errors are in
/// `failure`.
[[nodiscard]] configured_service make_service(const provider_config& settings,
                                              const service_parts& parts);

} // namespace heddle::setup
