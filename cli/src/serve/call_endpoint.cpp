#include "serve/call_endpoint.hpp"

#include "serve/cancel_signal.hpp"
#include "serve/json_response.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/hex.hpp>
#include <heddle/failure.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::string_view call_path = "/v1/call/";

/// The text up to `end`, which is removed from `rest` with it.
std::string_view take_until(std::string_view& rest, char end) noexcept {
    const std::string_view taken = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
    return ascii::trim(taken, " \t");
}

/// Whether a media type is one that the client does not accept: its weight is 0 (RFC 9110, 12.4.2).
bool has_no_weight(std::string_view parameters) noexcept {
    while (!parameters.empty()) {
        const std::string_view each = take_until(parameters, ';');
        if (each.size() < 3 || !ascii::equals_ignoring_case(each.substr(0, 2), "q=")) continue;
        return each.find_first_not_of("0.", 2) == each.npos;
    }
    return false;
}

bool wants_events(const http::server_request& request) noexcept {
    std::string_view accepted = request.field("accept");
    while (!accepted.empty()) {
        std::string_view each = take_until(accepted, ',');
        const std::string_view type = take_until(each, ';');
        if (ascii::equals_ignoring_case(type, "text/event-stream")) return !has_no_weight(each);
    }
    return false;
}

/// Whether the client is what has cancelled the context, as http::request_handler has it.
bool has_hung_up(coro::call_context context) noexcept {
    return context.cancelled() && context.cancel->reason() == cancel_reason::user;
}

json piece_json(piece of) {
    return json::object{
        {"task", std::move(of.task)}, {"call", of.call}, {"text", std::move(of.text)}};
}

} // namespace

json answer_json(answer of) {
    const std::optional<double> cost = of.used().cost_usd();
    const double seconds = std::chrono::duration<double>(of.duration()).count();
    json usage = to_json(of.used());
    json::object members;
    members.reserve(4);
    members.set("value", std::move(of).value());
    members.set("usage", std::move(usage));
    members.set("cost_usd", cost ? json(*cost) : json());
    members.set("seconds", seconds);
    return members;
}

result<call_options> call_endpoint::bounds_of(const http::server_request& request) const {
    call_options bounds;
    HEDDLE_TRY(bounds.timeout, time_of(request, rules_.timeout));
    bounds.budget_usd = rules_.budget_usd;
    bounds.strict_value = true;                 // as eval --json and batch
    bounds.tag = request.field("x-request-id"); // kept by the request until the call has it
    return bounds;
}

void call_endpoint::note(const error& failure) const {
    const failure_details* details = details_of(failure);
    if (details && !details->reason.empty()) metrics_.model_failed(details->reason);
}

coro::task<served_outcome> call_endpoint::serve(const http::server_request& request,
                                                http::response_writer& response,
                                                coro::call_context context) const {
    served_outcome outcome;
    const auto name =
        percent_decoded(request.path().substr(call_path.size()), broken_escape::refused);
    const served_function* called = name ? functions_.find(*name) : nullptr;
    if (!called) {
        outcome.status = 404;
        json body = error_json(404, "there is no function of this name");
        co_await send_json(response, 404, std::move(body));
        co_return outcome;
    }
    outcome.function = called->name;
    result<call_options> bounds = bounds_of(request);
    result<json> input = co_await data_.read(request);
    if (!input || !bounds) {
        const error& wrong = input ? bounds.error() : input.error();
        outcome.status = http_status(wrong);
        json body = error_json(outcome.status, wrong.message());
        co_await send_json(response, outcome.status, std::move(body));
        co_return outcome;
    }
    if (context.cancelled()) { // before it began: the operations below would not notice
        const error gone = for_client(error::cancelled(context.cancel->reason()), context);
        outcome.status = http_status(gone);
        json body = error_json(outcome.status, gone);
        std::vector<http::response_field> fields = fields_of(gone, outcome.status);
        co_await send_json(response, outcome.status, std::move(body), std::move(fields));
        co_return outcome;
    }
    if (wants_events(request)) {
        outcome.status =
            co_await respond_in_pieces(*called, *std::move(input), *bounds, response, context);
    } else {
        outcome.status =
            co_await respond_whole(*called, *std::move(input), *bounds, response, context);
    }
    co_return outcome;
}

coro::task<int> call_endpoint::respond_whole(const served_function& called, json input,
                                             call_options bounds, http::response_writer& response,
                                             coro::call_context context) const {
    cancel_signal stop(context);
    result<answer> ended =
        co_await called.program.call(called.signature.name, std::move(input), bounds, stop.token());
    int status = 200;
    json body;
    std::vector<http::response_field> fields;
    if (ended) {
        body = answer_json(*std::move(ended));
    } else {
        const error failure = for_client(ended.error(), context);
        status = http_status(failure);
        note(failure);
        if (has_hung_up(context)) { // a response would not be read
            response.abandon();
            co_return status;
        }
        body = error_json(status, failure);
        fields = fields_of(failure, status);
    }
    co_await data_.send(response, status, std::move(body), std::move(fields));
    co_return status;
}

coro::task<int> call_endpoint::respond_in_pieces(const served_function& called, json input,
                                                 call_options bounds,
                                                 http::response_writer& response,
                                                 coro::call_context context) const {
    http::response_head head;
    head.content_type = "text/event-stream";
    head.fields.push_back({"Cache-Control", "no-cache"});
    result<void> sent = co_await response.start(std::move(head));
    job running = called.program.start(called.signature.name, std::move(input), bounds);
    // Not only between two pieces: a client that does not read may hold up a write.
    const job_cancellation ends(context, running);
    cancel_signal stop(context);
    while (sent && !context.cancelled()) {
        std::optional<piece> next = co_await running.next(stop.token());
        if (!next) break;
        std::string event = event_text("piece", piece_json(*std::move(next)).to_string());
        sent = co_await response.write(std::move(event));
    }
    // Nobody reads any more, or the server ends: the end of the call is awaited in any case.
    if (!sent || context.cancelled()) running.cancel();
    result<answer> ended = co_await running.result(stop.token());
    int status = 200;
    json last;
    if (ended) {
        last = answer_json(*std::move(ended));
    } else {
        const error failure = for_client(ended.error(), context);
        status = http_status(failure);
        json body = error_json(status, failure);
        last = std::move(*body.find("error"));
        note(failure);
    }
    const std::string_view event = status == 200 ? "result" : "error";
    result<std::string> line = co_await data_.print(std::move(last));
    std::string text;
    if (line) text = event_text(event, *line);
    else sent = line.error();
    if (sent) sent = co_await response.write(std::move(text));
    if (sent) sent = co_await response.finish();
    co_return status;
}

} // namespace heddle::cli
