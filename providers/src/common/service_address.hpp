// Where a service is and with which key: what every adapter checks in the same way.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/log.hpp>
#include <heddle/base/secret.hpp>

#include "common/base_url.hpp"

#include <string_view>

namespace heddle::providers {

/// llm_errc::configuration: "NAME: WHAT".
[[nodiscard]] error wrong_setting(std::string_view provider_name, std::string_view what);

/// True if `value` can stand in a header: ASCII without control characters (RFC 9110, 5.5).
[[nodiscard]] bool fits_header(std::string_view value) noexcept;

/// Reads the base URL, cuts blanks and line ends off the key, and warns on `log` when a key would
/// go over the net without encryption.
/// Errors: llm_errc::configuration for a URL that cannot be used, and for a key that does not fit a
/// header. No error and no line of the log shows the key.
[[nodiscard]] result<base_url> check_address(std::string_view provider_name, std::string_view url,
                                             secret& api_key, log_port& log);

/// The host of a service that requires a key there, and not at other addresses.
struct official_service {
    std::string_view host;
    std::string_view key_variable; ///< which the hint names
};
/// As check_address. Errors: also llm_errc::configuration for the official host without a key.
[[nodiscard]] result<base_url> check_official(std::string_view provider_name, std::string_view url,
                                              secret& api_key, const official_service& official,
                                              log_port& log);

} // namespace heddle::providers
