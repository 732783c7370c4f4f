#include <heddle/providers/openai/provider.hpp>
#include <heddle/providers/responses/batches.hpp>
#include <heddle/providers/responses/provider.hpp>

#include "common/adapter_options.hpp"

namespace heddle::providers {

namespace {

constexpr std::string_view key_variables[] = {"OPENAI_API_KEY"};
constexpr std::string_view url_variables[] = {"OPENAI_BASE_URL"};

responses::options to_options(service_settings& settings) {
    auto options = options_of<responses::options>(settings);
    options.organization = std::move(settings.organization);
    options.project = std::move(settings.project);
    return options;
}

constexpr service_adapter adapter{.type = "openai-responses",
                                  .base_url = openai::default_base_url,
                                  .key_variables = key_variables,
                                  .url_variables = url_variables,
                                  .needs_key = true,
                                  .has_organization = true,
                                  .make = &make_with<&to_options, &make_responses_provider>,
                                  .make_batches = &make_with<&to_options, &make_responses_batches>};

} // namespace

const service_adapter& responses_adapter() noexcept { return adapter; }

} // namespace heddle::providers
