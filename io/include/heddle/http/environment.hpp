// The usual environment variables for proxies and certificates.
#pragma once

#include <heddle/http/client.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::http {

/// Returns the value of a variable; nothing if it is not set.
using variable_lookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Sets what is empty in `options` from http_proxy, https_proxy (HTTPS_PROXY), all_proxy
/// (ALL_PROXY), no_proxy (NO_PROXY), SSL_CERT_FILE and SSL_CERT_DIR; lower case takes precedence.
/// HTTP_PROXY is used only if REQUEST_METHOD is not set: in a CGI program, the sender of the
/// request controls its value (CVE-2016-5385). Empty variables count as unset. Nothing is checked
/// here.
/// The client itself never reads the environment, with one exception: OpenSSL reads SSL_CERT_FILE
/// and SSL_CERT_DIR if `ca_file` is empty, and ignores paths that do not exist.
void apply_environment(http_client_options& options, const variable_lookup& lookup);

} // namespace heddle::http
