// What `with` says about task calls.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::tasks {

/// Views into the settings map, which outlives them.
struct call_settings {
    std::string_view model;
    std::string_view provider;
    std::optional<double> temperature;
    std::optional<std::uint32_t> retries;
    bool raise_failures = false;
    bool use_cache = true;
};

/// Errors: TypeError naming the setting.
[[nodiscard]] result<call_settings> read_call_settings(const lang::value& settings,
                                                       source_span where);

} // namespace heddle::tasks
