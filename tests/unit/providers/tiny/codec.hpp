#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/providers/common/service_adapter.hpp>

#include <memory>
#include <string>

namespace heddle::providers {

namespace tiny {

struct options : call_options { // limits, retry, gate
    std::string name = "tiny";  // what users write before the colon
    std::string base_url = "https://tiny.example/v1";
    secret api_key;
};

} // namespace tiny

[[nodiscard]] result<std::unique_ptr<http_chat_provider>> make_tiny_provider(ports::http_port& http,
                                                                             tiny::options options,
                                                                             log_port& log);

/// This kind of service, for configurations.
[[nodiscard]] const service_adapter& tiny_adapter() noexcept;

} // namespace heddle::providers
