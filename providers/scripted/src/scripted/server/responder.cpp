#include "scripted/server/responder.hpp"

#include <heddle/coro/wait_point.hpp>

#include <algorithm>
#include <ctime>
#include <utility>
#include <variant>

namespace heddle::scripted {

namespace {

using kind = served_route::kind;

decode_options reader_options() {
    decode_options options;
    options.provider_name = "the request"; // what the messages of the reader are about
    options.subject = "the body";
    return options;
}

std::int64_t now_in_seconds() noexcept { return static_cast<std::int64_t>(std::time(nullptr)); }

fault fault_of(int status, std::string message, std::string type, std::string code = {}) {
    return {status, std::move(type), std::move(code), std::move(message), std::nullopt};
}

http::response_head head_of(const served_format& format, const fault& shown) {
    http::response_head head;
    head.status = shown.status;
    if (shown.retry_after && format.wait_in_headers()) {
        const auto seconds = std::chrono::ceil<std::chrono::seconds>(*shown.retry_after);
        head.fields.push_back({"Retry-After", std::to_string(seconds.count())});
        head.fields.push_back({"Retry-After-Ms", std::to_string(shown.retry_after->count())});
    }
    return head;
}

std::string body_of(const served_format& format, const fault& shown) {
    std::string body;
    format.append_fault(body, shown);
    return body;
}

} // namespace

std::string malformed_request_body(int status, std::string_view message) {
    return body_of(default_format(),
                   fault_of(status, std::string(message), "invalid_request_error"));
}

responder::responder(std::shared_ptr<engine> rules, secret required_key)
    : rules_(std::move(rules)), required_key_(std::move(required_key)), reader_(reader_options()) {}

coro::task<void> responder::respond(responder& self, const http::server_request& request,
                                    http::response_writer& response, coro::call_context context) {
    const served_route route = find_route(request);
    whole_response whole;
    if (std::optional<whole_response> refused = self.refuse(request, route)) {
        whole = *std::move(refused);
    } else if (route.what != kind::chat) {
        whole = self.describe(route);
    } else {
        served_chat asked;
        const outcome chosen = self.choose(route, request.body, asked);
        if (chosen.delay.count() > 0) {
            const coro::clock::time_point until = context.loop->now() + chosen.delay;
            const result<void> waited = co_await coro::sleep_until(context, until);
            if (!waited) {
                response.abandon();
                co_return;
            }
        }
        if (const auto* failed = std::get_if<fault>(&chosen.response)) {
            whole = {head_of(*route.format, *failed), body_of(*route.format, *failed)};
        } else if (asked.stream) {
            co_await stream(*route.format, asked, chosen, response, context);
            co_return;
        } else {
            route.format->append_response(
                whole.body, std::get<ports::chat_response>(chosen.response), now_in_seconds());
        }
    }
    // A client that has hung up needs no response.
    [[maybe_unused]] const result<void> sent =
        co_await response.send(std::move(whole.head), std::move(whole.body));
}

coro::task<void> responder::stream(const served_format& format, const served_chat& asked,
                                   const outcome& chosen, http::response_writer& response,
                                   coro::call_context context) {
    const auto& scripted = std::get<ports::chat_response>(chosen.response);
    const auto pieces = stream_pieces(scripted.refusal.empty() ? scripted.text : scripted.refusal);
    const auto events = format.events(asked, scripted, pieces, now_in_seconds());
    http::response_head head;
    head.content_type = format.stream_type();
    head.fields.push_back({"Cache-Control", "no-cache"});
    result<void> going = response.put_head(head);
    for (std::string event; going;) {
        const bool is_slow = chosen.piece_delay.count() > 0 && events->at_piece();
        event.clear();
        if (!events->next(event)) break;
        going = response.put(event);
        if (!going || !is_slow) continue;
        going = co_await response.flush();
        if (!going) break;
        going = co_await coro::sleep_until(context, context.loop->now() + chosen.piece_delay);
    }
    if (going) going = co_await response.finish();
    else response.abandon();
}

std::optional<responder::whole_response> responder::refuse(const http::server_request& request,
                                                           const served_route& route) const {
    const auto with = [&route](const fault& shown) {
        return whole_response{head_of(*route.format, shown), body_of(*route.format, shown)};
    };
    if (route.what == kind::health) return std::nullopt;
    if (!is_allowed(key_of(request))) {
        return with(fault_of(401, "Incorrect API key provided.", "authentication_error",
                             "invalid_api_key"));
    }
    if (route.what == kind::unknown)
        return with(fault_of(404, "Unknown path.", "invalid_request_error", "unknown_url"));
    // Whatever answers GET answers HEAD (RFC 9110, 9.1).
    const bool is_head_of_get = request.method == "HEAD" && route.method == "GET";
    if (request.method != route.method && !is_head_of_get) {
        return with(fault_of(405, "This path has another method.", "invalid_request_error",
                             "method_not_supported"));
    }
    const auto& models = rules_->models();
    if (route.what == kind::one_model &&
        std::find(models.begin(), models.end(), route.model) == models.end()) {
        return with(
            fault_of(404, "The model does not exist.", "invalid_request_error", "model_not_found"));
    }
    return std::nullopt;
}

bool responder::is_allowed(std::string_view given) const noexcept {
    const std::string_view wanted = required_key_.reveal();
    if (wanted.empty()) return true;
    if (given.size() != wanted.size()) return false;
    unsigned different = 0; // as long for a wrong first byte as for a wrong last one
    for (std::size_t i = 0; i < given.size(); ++i) {
        different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(wanted[i]);
    }
    return different == 0;
}

responder::whole_response responder::describe(const served_route& route) const {
    whole_response whole;
    if (route.what == kind::health) whole.body = R"({"status":"ok"})";
    else if (route.what == kind::one_model) route.format->append_model(whole.body, route.model);
    else route.format->append_models(whole.body, rules_->models());
    return whole;
}

outcome responder::choose(const served_route& route, std::string_view body, served_chat& asked) {
    result<served_chat> read = route.format->decode(reader_, route.target, body);
    if (!read) {
        outcome refused;
        refused.response = fault_of(400, read.error().message(), "invalid_request_error");
        return refused;
    }
    asked = *std::move(read);
    outcome chosen = rules_->answer(asked.chat);
    asked.chat = {}; // its texts are not needed while the response waits
    return chosen;
}

} // namespace heddle::scripted
