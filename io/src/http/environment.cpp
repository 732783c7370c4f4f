#include <heddle/http/environment.hpp>

#include <initializer_list>

namespace heddle::http {

namespace {

std::string first_of(const variable_lookup& lookup, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        auto value = lookup(name);
        if (value && !value->empty()) return *std::move(value);
    }
    return {};
}

} // namespace

void apply_environment(http_client_options& options, const variable_lookup& lookup) {
    const bool cgi = !first_of(lookup, {"REQUEST_METHOD"}).empty();
    if (options.http_proxy.empty()) {
        std::string url =
            cgi ? first_of(lookup, {"http_proxy", "all_proxy", "ALL_PROXY"})
                : first_of(lookup, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
        options.http_proxy = secret(std::move(url));
    }
    if (options.https_proxy.empty()) {
        options.https_proxy =
            secret(first_of(lookup, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}));
    }
    if (options.no_proxy.empty()) options.no_proxy = first_of(lookup, {"no_proxy", "NO_PROXY"});
    if (options.ca_file.empty()) options.ca_file = first_of(lookup, {"SSL_CERT_FILE"});
    if (options.ca_directory.empty()) options.ca_directory = first_of(lookup, {"SSL_CERT_DIR"});
}

} // namespace heddle::http
