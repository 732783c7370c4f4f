#include "services/key_destination.hpp"

#include "services/key_source.hpp"

#include <heddle/base/url.hpp>
#include <heddle/http/origin_name.hpp>
#include <heddle/http/proxy_rules.hpp>
#include <heddle/setup/services/service_trust.hpp>

namespace heddle::setup {

key_destination destination_of(const provider_config& settings, const service_type& type,
                               const environment& variables) {
    return {normalised_address(address_of(settings, type, variables)),
            key_name(&settings, type.key_variables, variables)};
}

std::string account_origin(const std::string& address) {
    const auto parts = split_url(address);
    if (!parts) return address;
    const std::string_view whole = address;
    auto origin = http::parse_origin(whole.substr(0, whole.size() - parts->rest.size()));
    if (!origin) return address;
    if (http::is_loopback(*origin)) origin->host = "localhost";
    return origin->text();
}

} // namespace heddle::setup
