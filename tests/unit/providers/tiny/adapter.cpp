#include "codec.hpp"

#include "common/adapter_options.hpp"

namespace heddle::providers {

namespace {

constexpr std::string_view key_variables[] = {"TINY_API_KEY"};

result<std::unique_ptr<http_chat_provider>> make(ports::http_port& http, service_settings settings,
                                                 log_port& log) {
    return make_tiny_provider(http, options_of<tiny::options>(settings), log);
}

constexpr service_adapter adapter{.type = "tiny",
                                  .base_url = "https://tiny.example/v1",
                                  .key_variables = key_variables,
                                  .url_variables = {},
                                  .needs_key = true,
                                  .make = &make};

} // namespace

const service_adapter& tiny_adapter() noexcept { return adapter; }

} // namespace heddle::providers
