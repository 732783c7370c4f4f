// Where the key of a service goes.
#pragma once

#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/config/service_types.hpp>
#include <heddle/setup/environment.hpp>

#include <string>

namespace heddle::setup {

/// An address with the key that goes there.
struct key_destination {
    std::string address; ///< normalised
    std::string key;     ///< its name; empty: none

    friend bool operator==(const key_destination&, const key_destination&) = default;
};

/// Where the key of a service goes as these settings alone have it. Reads no key. Pure.
[[nodiscard]] key_destination destination_of(const provider_config& settings,
                                             const service_type& type,
                                             const environment& variables);

/// Where an address leads, for comparison of accounts: scheme, host and port, whatever the path,
/// and one name for this machine; the text itself if it is not a URL. Pure.
[[nodiscard]] std::string account_origin(const std::string& address);

} // namespace heddle::setup
