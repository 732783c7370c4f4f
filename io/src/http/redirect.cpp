#include <heddle/http/redirect.hpp>

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <vector>

namespace heddle::http {

namespace {

constexpr std::size_t max_location_length = 8 * 1024;
constexpr std::size_t max_shown_bytes = 200;
constexpr std::size_t max_scheme_length = 20;

error refused(const origin_name& origin, std::string what, std::string hint) {
    return error(ports::http_errc::redirect_refused, origin.text() + ": " + std::move(what))
        .with_hint(std::move(hint))
        .with_retryable(false);
}

std::string_view scheme_of(std::string_view location) {
    const std::size_t colon = location.find_first_of(":/?#");
    if (colon == std::string_view::npos || location[colon] != ':' || colon == 0) return {};
    const bool valid =
        ascii::is_letter(location.front()) &&
        std::all_of(location.begin(), location.begin() + static_cast<long>(colon), [](char c) {
            return ascii::is_letter(c) || ascii::is_digit(c) || c == '+' || c == '-' || c == '.';
        });
    return valid ? location.substr(0, colon) : std::string_view();
}

/// Without user, query and fragment, without secrets (looked for before anything is cut off, so
/// that no part of one stays), and with nothing that disturbs a terminal.
std::string shown(std::string_view scheme, std::string_view authority, std::string_view path,
                  const redactor& secrets) {
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos)
        authority.remove_prefix(at + 1);
    std::string out = std::string(scheme) + "://" + std::string(authority) +
                      std::string(path.substr(0, path.find_first_of("?#")));
    secrets.hide(out);
    out = utf8::shortened(out, max_shown_bytes, "...");
    std::replace_if(
        out.begin(), out.end(),
        [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte < 0x20 || byte >= 0x7F;
        },
        '?');
    return out;
}

/// RFC 3986, 5.2.4.
std::string without_dot_segments(std::string_view path) {
    std::vector<std::string_view> kept;
    bool directory = false;
    path.remove_prefix(1);
    for (bool last = false; !last;) {
        const std::size_t slash = path.find('/');
        last = slash == std::string_view::npos;
        const std::string_view segment = path.substr(0, slash);
        directory = segment == "." || segment == "..";
        if (segment == "..") {
            if (!kept.empty()) kept.pop_back();
        } else if (segment != ".") {
            kept.push_back(segment);
        }
        if (!last) path.remove_prefix(slash + 1);
    }
    std::string out;
    for (const std::string_view segment : kept) out.append("/").append(segment);
    if (directory || out.empty()) out += "/";
    return out;
}

/// Secrets that the server received and may echo: sensitive headers, with and without the scheme in
/// front of them ("Bearer").
redactor secrets_of(const ports::http_request& request) {
    std::vector<secret> secrets;
    for (const ports::http_header& header : request.headers) {
        if (!header.sensitive) continue;
        secrets.emplace_back(header.value);
        const std::size_t blank = header.value.rfind(' ');
        if (blank != std::string::npos) secrets.emplace_back(header.value.substr(blank + 1));
    }
    return redactor(std::move(secrets), "[hidden]", redactor::min_length_in_errors);
}

} // namespace

result<std::string> resolve_redirect(const origin_name& origin, std::string_view target,
                                     std::string_view location, const redactor& secrets) {
    const bool odd = std::any_of(location.begin(), location.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte >= 0x7F;
    });
    if (odd || location.size() > max_location_length) {
        return refused(origin, "a redirect to an invalid URL", "this is an error of the server");
    }
    location = location.substr(0, location.find('#'));
    std::string_view scheme = scheme_of(location);
    std::string_view rest = location;
    if (!scheme.empty()) rest.remove_prefix(scheme.size() + 1);
    if (rest.starts_with("//")) {
        rest.remove_prefix(2);
        const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
        rest.remove_prefix(authority.size());
        if (scheme.empty()) scheme = origin.tls ? "https" : "http";
        const auto named = parse_origin(std::string(scheme) + "://" + std::string(authority));
        if (!named || named->text() != origin.text()) {
            const bool upgraded = named && !origin.tls && named->tls && named->host == origin.host;
            return refused(origin,
                           "a redirect to another origin, " +
                               shown(scheme, authority, rest, secrets) + ", is not followed",
                           upgraded ? "write https:// in the base URL"
                                    : "if that is the service's new address, make it the base URL; "
                                      "keys are sent to no other server than the configured one");
        }
    } else if (!scheme.empty()) {
        const bool http = ascii::equals_ignoring_case(scheme, "http") ||
                          ascii::equals_ignoring_case(scheme, "https");
        const std::string kind = secrets.hidden(scheme);
        return refused(origin,
                       http ? "a redirect to an invalid URL"
                            : "a redirect to a URL of the kind " +
                                  std::string(utf8::prefix(kind, max_scheme_length)) +
                                  ": is not followed",
                       "this is an error of the server");
    } else if (rest.empty()) {
        return std::string(target);
    }
    const std::string_view old_path = target.substr(0, target.find('?'));
    const std::size_t question = rest.find('?');
    const std::string_view path = rest.substr(0, question);
    const std::string_view query =
        question == std::string_view::npos ? std::string_view() : rest.substr(question);
    std::string whole;
    if (path.starts_with('/')) {
        whole = without_dot_segments(path);
    } else if (path.empty()) {
        // Only a query, or an origin without a path.
        const bool absolute = location.size() != rest.size();
        whole = absolute ? std::string("/") : std::string(old_path);
    } else {
        const std::string_view folder = old_path.substr(0, old_path.rfind('/') + 1);
        whole = without_dot_segments(std::string(folder) + std::string(path));
    }
    return whole + std::string(query);
}

result<void> follow_redirect(ports::http_request& request, const origin_name& origin,
                             const ports::http_response& response) {
    HEDDLE_TRY(request.target, resolve_redirect(origin, request.target,
                                                *response.header("location"), secrets_of(request)));
    const bool becomes_get =
        (response.status == 303 && request.method != "HEAD") ||
        ((response.status == 301 || response.status == 302) && request.method == "POST");
    if (!becomes_get) return {};
    request.method = "GET";
    request.body.clear();
    request.headers.edit([](std::vector<ports::http_header>& headers) {
        std::erase_if(headers, [](const ports::http_header& header) {
            constexpr std::string_view about_body = "content-";
            return header.name.size() > about_body.size() &&
                   ascii::equals_ignoring_case(
                       std::string_view(header.name).substr(0, about_body.size()), about_body);
        });
    });
    return {};
}

} // namespace heddle::http
