// From the settings of any service to the options of one provider.
#pragma once

#include <heddle/providers/common/service_adapter.hpp>

#include <utility>

namespace heddle::providers {

/// The members that all options have; the caller sets those that only its provider has.
template <class Options>
[[nodiscard]] Options options_of(service_settings& settings) {
    Options options;
    static_cast<call_options&>(options) = static_cast<call_options&>(settings);
    options.name = std::move(settings.name);
    options.base_url = std::move(settings.base_url);
    options.api_key = std::move(settings.api_key);
    return options;
}

/// For the functions of a service_adapter: `Make`, with the options that `ToOptions` takes out of
/// the settings.
template <auto ToOptions, auto Make>
[[nodiscard]] auto make_with(ports::http_port& http, service_settings settings, log_port& log) {
    return Make(http, ToOptions(settings), log);
}

} // namespace heddle::providers
