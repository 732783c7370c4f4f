#include <heddle/providers/gemini/batches.hpp>
#include <heddle/providers/gemini/provider.hpp>

#include "common/adapter_options.hpp"

namespace heddle::providers {

namespace {

constexpr std::string_view key_variables[] = {"GEMINI_API_KEY", "GOOGLE_API_KEY"};
constexpr std::string_view url_variables[] = {"GOOGLE_GEMINI_BASE_URL"};
constexpr std::string_view versions[] = {"v1", "v1beta"};

gemini::options to_options(service_settings& settings) {
    auto options = options_of<gemini::options>(settings);
    if (settings.api_version == versions[1]) options.version = gemini::api_version::v1beta;
    return options;
}

constexpr service_adapter adapter{.type = "gemini",
                                  .base_url = gemini::default_base_url,
                                  .key_variables = key_variables,
                                  .url_variables = url_variables,
                                  .usual_variables = key_variables,
                                  .needs_key = true,
                                  .api_versions = versions,
                                  .make = &make_with<&to_options, &make_gemini_provider>,
                                  .make_batches = &make_with<&to_options, &make_gemini_batches>};

} // namespace

const service_adapter& gemini_adapter() noexcept { return adapter; }

} // namespace heddle::providers
