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

} // namespace heddle::providers
