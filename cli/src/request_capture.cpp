#include "request_capture.hpp"

#include "request_text.hpp"
#include "request_view.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/number_text.hpp>
#include <heddle/providers/common/http_chat_provider.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/tasks/run/token_estimate.hpp>

namespace heddle::cli {

namespace {

std::string amount(double usd) { return usd > 0 ? setup::dollars(usd) : "$0"; }

std::string tokens_text(const captured_request& captured, const request_estimate& estimate) {
    std::string text = "about " + setup::grouped(estimate.input_tokens) + " in, ";
    const auto& most = captured.request.max_output_tokens;
    return text + (most ? "at most " + setup::grouped(*most) + " out" : "no limit out");
}

std::string cost_text(const captured_request& captured, const request_estimate& estimate) {
    if (!estimate.input_cost) return "unknown: there is no price of this model";
    std::string text = "about " + amount(*estimate.input_cost) + " for the input";
    if (estimate.max_cost) return text + ", at most " + amount(*estimate.max_cost) + " in all";
    return captured.request.max_output_tokens ? text : text + "; max-tokens bounds the output";
}

void add_cost(std::string& out, std::string_view name, const std::optional<double>& usd) {
    out.append(",\"").append(name).append("\":");
    out += usd ? number_text(setup::rounded_usd(*usd)) : "null";
}

} // namespace

std::optional<error> request_capture::on_request(const setup::seen_request& seen) {
    if (!waits_) return std::nullopt;
    if (!captured_) {
        captured_request& kept = captured_.emplace();
        kept.request = without_secrets(seen.request, secrets_);
        kept.task = std::string(seen.request.origin.task);
        kept.service = std::string(seen.service.provider_name());
        kept.request.origin = {}; // these do not outlive the call
        kept.request.gate = nullptr;
        kept.request.waits = nullptr;
        if (auto* service = dynamic_cast<providers::http_chat_provider*>(&seen.service)) {
            auto encoded =
                service->encode(kept.request, seen.streams ? providers::response_mode::stream
                                                           : providers::response_mode::whole);
            if (encoded) {
                kept.wire = std::move(encoded->body);
                kept.left_out = std::move(encoded->left_out);
            } else {
                kept.wire = std::move(encoded).error();
            }
        }
    }
    return error::cancelled(cancel_reason::user).with_attempts(0);
}

request_estimate estimate_of(const captured_request& captured, const ports::price_port& prices) {
    request_estimate estimate;
    estimate.input_tokens = tasks::estimated_tokens(captured.request);
    ports::token_usage usage;
    usage.input = estimate.input_tokens;
    estimate.input_cost = prices.cost_usd(captured.service, captured.request.model, usage);
    if (captured.request.max_output_tokens) {
        usage.output = *captured.request.max_output_tokens;
        estimate.max_cost = prices.cost_usd(captured.service, captured.request.model, usage);
    }
    return estimate;
}

std::string captured_text(const captured_request& captured, const request_estimate& estimate,
                          const std::string& address) {
    std::string text = "task:     " + captured.task + "\nservice:  " + captured.service;
    if (!address.empty()) text += ", " + address;
    text += "\nmodel:    " + captured.request.model + "\n";
    if (const std::string settings = settings_text(captured.request); !settings.empty())
        text += "settings: " + settings + "\n";
    for (const providers::left_out_setting& each : captured.left_out)
        text += "not sent: " + each.name + ": " + each.reason + "\n";
    text += "tokens:   " + tokens_text(captured, estimate) + "\n";
    text += "cost:     " + cost_text(captured, estimate) + "\n\n";
    return text + request_text(captured.request, whole_request);
}

std::string captured_json(const captured_request& captured, const request_estimate& estimate,
                          const std::string& address) {
    ports::chat_request request = captured.request;
    request.origin.task = captured.task;
    std::string out = "{" + request_members(request, captured.service) + ",\"address\":";
    if (address.empty()) out += "null";
    else append_json_string(out, address);
    out += ",\"left_out\":[";
    for (std::size_t i = 0; i < captured.left_out.size(); ++i) {
        if (i != 0) out += ',';
        append_json_string(out, captured.left_out[i].name);
    }
    out += "],\"input_tokens\":" + std::to_string(estimate.input_tokens);
    add_cost(out, "input_cost_usd", estimate.input_cost);
    add_cost(out, "max_cost_usd", estimate.max_cost);
    return out + "}";
}

} // namespace heddle::cli
