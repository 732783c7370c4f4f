// The variables that other programs read for proxies and certificates.
#pragma once

#include <heddle/http/client.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::http {

/// The value of a variable; nothing when it is not set.
using variable_lookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Fills what is still empty in `options` from http_proxy, https_proxy (HTTPS_PROXY), all_proxy
/// (ALL_PROXY), no_proxy (NO_PROXY), SSL_CERT_FILE and SSL_CERT_DIR; the small letters win.
/// HTTP_PROXY counts only where REQUEST_METHOD is not set: in a CGI program whoever sends the
/// request chooses its value (CVE-2016-5385). Empty variables count as unset. Nothing is checked
/// here. The client itself never reads the environment, with one exception: OpenSSL looks at
/// SSL_CERT_FILE and SSL_CERT_DIR where `ca_file` is empty, and says nothing when they lead
/// nowhere.
void apply_environment(http_client_options& options, const variable_lookup& lookup);

} // namespace heddle::http
