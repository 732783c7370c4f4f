#include <heddle/providers/anthropic/batches.hpp>
#include <heddle/providers/anthropic/provider.hpp>

#include "common/adapter_options.hpp"

namespace heddle::providers {

namespace {

constexpr std::string_view key_variables[] = {"ANTHROPIC_API_KEY"};
constexpr std::string_view url_variables[] = {"ANTHROPIC_BASE_URL"};
constexpr std::string_view versions[] = {"2026-10-21", "2023-06-01"};

anthropic::options to_options(service_settings& settings) {
    auto options = options_of<anthropic::options>(settings);
    if (settings.api_version == versions[1]) options.version = anthropic::api_version::v2023_06_01;
    return options;
}

constexpr service_adapter adapter{.type = "anthropic",
                                  .base_url = anthropic::default_base_url,
                                  .key_variables = key_variables,
                                  .url_variables = url_variables,
                                  .usual_variables = key_variables,
                                  .needs_key = true,
                                  .api_versions = versions,
                                  .make = &make_with<&to_options, &make_anthropic_provider>,
                                  .make_batches = &make_with<&to_options, &make_anthropic_batches>};

} // namespace

const service_adapter& anthropic_adapter() noexcept { return adapter; }

} // namespace heddle::providers
