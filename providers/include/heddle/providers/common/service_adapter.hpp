// The kinds of services that a configuration can name.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace heddle::providers {

class batch_endpoint;

/// The settings of one service, whatever its kind.
struct service_settings : call_options {
    std::string name;         ///< what users write before the colon; errors begin with it
    std::string base_url;     ///< as service_adapter::complete_address returns it
    secret api_key;           ///< empty: none is sent
    std::string api_version;  ///< one of service_adapter::api_versions; empty: the first of them
    std::string organization; ///< empty: none
    std::string project;      ///< empty: none
};

/// One kind of service: what may be configured, and how its provider is created. The function
/// `<folder>_adapter` in the adapter.cpp of a provider's folder returns it, where the build finds
/// it. Everything is static.
struct service_adapter {
    std::string_view type;                           ///< "anthropic"
    std::string_view base_url;                       ///< default
    std::span<const std::string_view> key_variables; ///< of the environment; the first one applies
    std::span<const std::string_view> url_variables; ///< as key_variables
    /// If any of these is set, a service of this kind is available without configuration.
    std::span<const std::string_view> usual_variables{};
    bool needs_key = false;                           ///< at the default address
    std::span<const std::string_view> api_versions{}; ///< the default first; empty: not supported
    bool has_organization = false;                    ///< supports organization and project
    /// The complete form of an address as a user writes it; null: it needs no completion.
    std::string (*complete_address)(std::string address) = nullptr;
    /// Creates a provider over `http`; both references outlive it. Does not connect.
    /// Errors: llm_errc::configuration. Threads: the result belongs to the shard of `http`.
    result<std::unique_ptr<http_chat_provider>> (*make)(ports::http_port& http,
                                                        service_settings settings, log_port& log);
    /// As make, for requests that wait for a batch; null: there is no such endpoint.
    result<std::unique_ptr<batch_endpoint>> (*make_batches)(ports::http_port& http,
                                                            service_settings settings,
                                                            log_port& log) = nullptr;
};

/// All adapters, by the names of their folders.
[[nodiscard]] std::span<const service_adapter* const> service_adapters() noexcept;

} // namespace heddle::providers
