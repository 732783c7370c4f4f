#include "serve/json_response.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/failure.hpp>

#include <cmath>
#include <utility>

namespace heddle::cli {

namespace {

/// The value of a parameter in the query, as written.
std::string_view query_value(std::string_view target, std::string_view name) noexcept {
    std::size_t at = target.find('?');
    while (at != target.npos) {
        const std::string_view rest = target.substr(at + 1);
        const std::string_view pair = rest.substr(0, rest.find('&'));
        if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
            return pair.substr(name.size() + 1);
        const std::size_t next = rest.find('&');
        at = next == rest.npos ? target.npos : at + 1 + next;
    }
    return {};
}

/// Of the file of a place, only its name: clients have no use for the folders of this machine.
void hide_folders(json* place) {
    json* const file = place ? place->find("file") : nullptr;
    std::string* const path = file ? file->get_if<std::string>() : nullptr;
    if (path) path->erase(0, path->rfind('/') + 1);
}

} // namespace

coro::task<void> send_text(http::response_writer& response, int status, std::string line,
                           std::vector<http::response_field> fields) {
    http::response_head head;
    head.status = status;
    head.fields = std::move(fields);
    line += '\n';
    [[maybe_unused]] const result<void> sent =
        co_await response.send(std::move(head), std::move(line));
}

coro::task<void> send_json(http::response_writer& response, int status, json body,
                           std::vector<http::response_field> fields) {
    return send_text(response, status, body.to_string(), std::move(fields));
}

json error_json(int status, std::string message) {
    json::object inner{{"status", status}, {"message", std::move(message)}};
    return json::object{{"error", std::move(inner)}};
}

json error_json(int status, const error& failure) {
    json inner = to_json(failure);
    hide_folders(inner.find("place"));
    if (json* trace = inner.find("trace")) {
        for (json& each : trace->as_array()) hide_folders(each.find("place"));
    }
    if (auto* members = inner.get_if<json::object>()) members->set("status", status);
    return json::object{{"error", std::move(inner)}};
}

http::response_field retry_after(std::chrono::seconds wait) {
    return {"Retry-After", std::to_string(wait.count())};
}

error for_client(error failure, coro::call_context context) {
    const bool ends = context.cancelled() && context.cancel->reason() == cancel_reason::shutdown;
    const bool is_cancelled = failure.is_cancelled();
    if ((ends && is_cancelled) || failure.code() == make_error_code(runtime_errc::stopped)) {
        return error::cancelled(cancel_reason::shutdown, "the server is shutting down")
            .with_hint("send the request again, to another server or after the restart")
            .with_payload(failure.info().payload);
    }
    if (failure.code() == make_error_code(runtime_errc::overloaded)) {
        return std::move(failure).with_hint(
            "try again later; --concurrency and --queue of heddle serve are the bounds");
    }
    return failure;
}

result<json> json_of(const http::server_request& request) {
    const std::string_view type = request.field("content-type");
    const std::string_view media = ascii::trim(type.substr(0, type.find(';')));
    // A page of another site may send other types without being asked for permission.
    if (!media.empty() && !ascii::equals_ignoring_case(media, "application/json"))
        return error(errc::invalid_argument, "the Content-Type is not application/json");
    if (request.body.empty()) return json();
    if (media.empty())
        return error(errc::invalid_argument, "there is no Content-Type: application/json");
    // The server has bounded the body: --max-body.
    auto read = json::parse(request.body, json_limits{.max_bytes = request.body.size()});
    if (!read) return error(errc::invalid_argument, "the body: " + read.error().message());
    return read;
}

result<std::chrono::nanoseconds> time_of(const http::server_request& request,
                                         std::chrono::nanoseconds longest) {
    std::string_view written = request.field("x-heddle-timeout");
    if (written.empty()) written = query_value(request.target, "timeout");
    if (written.empty()) return longest;
    const auto seconds = parse_number<double>(written);
    constexpr double least = 0.001; // as of --timeout
    if (!seconds || !std::isfinite(*seconds) || *seconds < least) {
        return error(errc::invalid_argument, "the timeout is not a number of seconds from 0.001");
    }
    const double most = std::chrono::duration<double>(longest).count();
    if (*seconds >= most) return longest;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(*seconds));
}

std::string event_text(std::string_view name, std::string_view line) {
    // JSON in one line holds no line end, which would end the event.
    std::string text = "event: ";
    text += name;
    text += "\ndata: ";
    text += line;
    text += "\n\n";
    return text;
}

std::vector<http::response_field> fields_of(const error& failure, int status) {
    std::vector<http::response_field> fields;
    const auto& wait = failure.info().retry_after;
    if (wait) fields.push_back(retry_after(std::chrono::ceil<std::chrono::seconds>(*wait)));
    else if (status == 503) fields.push_back(retry_after(std::chrono::seconds(1)));
    return fields;
}

} // namespace heddle::cli
