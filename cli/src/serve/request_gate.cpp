#include "serve/request_gate.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/url.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

/// The host of a Host field, without its port and brackets; empty if it is malformed.
std::string_view host_of(std::string_view field) noexcept {
    const std::size_t bracket = field.find(']');
    const bool is_bracketed = field.starts_with('[') && bracket != field.npos;
    const std::size_t end = is_bracketed ? bracket + 1 : std::min(field.find(':'), field.size());
    const std::string_view port = field.substr(end);
    const bool is_port =
        port.starts_with(':') &&
        std::all_of(port.begin() + 1, port.end(), [](char c) { return ascii::is_digit(c); });
    if (!port.empty() && !is_port) return {};
    return is_bracketed ? field.substr(1, bracket - 1) : field.substr(0, end);
}

bool is_this_machine(std::string_view host) { return is_loopback_host(ascii::to_lower(host)); }

} // namespace

std::optional<request_gate::refusal> request_gate::check(const http::server_request& request,
                                                         coro::clock::time_point now,
                                                         std::string& client) {
    const std::string* owner = nullptr;
    if (auto refused = check_right(request, now, owner)) return refused;
    if (owner) client = *owner;
    const auto wait = rates_.count(client.empty() ? std::string(request.client) : client, now);
    if (wait) return refusal{429, "too many requests", wait};
    return std::nullopt;
}

std::optional<request_gate::refusal> request_gate::check_begun(const http::server_request& request,
                                                               coro::clock::time_point now) {
    const std::string* owner = nullptr;
    return check_right(request, now, owner);
}

std::optional<request_gate::refusal> request_gate::check_right(const http::server_request& request,
                                                               coro::clock::time_point now,
                                                               const std::string*& owner) {
    if (rules_.tokens.empty()) return check_origin(request);
    owner = rules_.tokens.owner_of(request.field("authorization"));
    if (owner) return std::nullopt;
    // An unknown token is counted for its address: guessing is bounded as well.
    const auto wait = rates_.count(std::string(request.client), now);
    if (wait) return refusal{429, "too many requests", wait};
    return refusal{401, "a bearer token is needed", std::nullopt};
}

/// Without tokens a page of any site, shown on this machine, could call workflows: browsers send
/// Origin with such requests, and Host with the name that led to this address.
std::optional<request_gate::refusal> request_gate::check_origin(
    const http::server_request& request) const {
    const std::string_view host = request.field("host");
    if (rules_.local_hosts_only && !host.empty() && !is_this_machine(host_of(host)))
        return refusal{403, "this server is for its own machine only", std::nullopt};
    const std::string_view origin = request.field("origin");
    if (origin.empty()) return std::nullopt;
    const auto parts = split_url(origin);
    const std::string_view scheme = request.is_secure ? "https" : "http";
    if (parts && parts->scheme == scheme && ascii::equals_ignoring_case(parts->authority, host))
        return std::nullopt;
    return refusal{403, "requests of other sites need a token", std::nullopt};
}

} // namespace heddle::cli
