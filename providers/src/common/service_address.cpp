#include "common/service_address.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/url.hpp>
#include <heddle/ports/llm_port.hpp>

#include <algorithm>
#include <string>

namespace heddle::providers {

error wrong_setting(std::string_view provider_name, std::string_view what) {
    return error(ports::make_error_code(ports::llm_errc::configuration),
                 std::string(provider_name) + ": " + std::string(what));
}

bool fits_header(std::string_view value) noexcept {
    return std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

result<base_url> check_address(std::string_view provider_name, std::string_view url,
                               secret& api_key, log_port& log) {
    HEDDLE_TRY(base_url read, parse_base_url(url));
    api_key = secret(std::string(ascii::trim(api_key.reveal())));
    if (!fits_header(api_key.reveal())) {
        return wrong_setting(provider_name, "the API key contains a character that no key has");
    }
    if (!read.secure && !api_key.empty() && !is_loopback_host(read.host)) {
        log.write(log_level::warn, "llm",
                  std::string(provider_name) + ": the API key goes to " + read.host +
                      " without encryption");
    }
    return read;
}

result<base_url> check_official(std::string_view provider_name, std::string_view url,
                                secret& api_key, const official_service& official, log_port& log) {
    HEDDLE_TRY(base_url read, check_address(provider_name, url, api_key, log));
    if (read.host == official.host && api_key.empty()) {
        return wrong_setting(provider_name, "no API key")
            .with_hint("set " + std::string(official.key_variable) +
                       ", or use another base URL or the scripted model");
    }
    return read;
}

} // namespace heddle::providers
