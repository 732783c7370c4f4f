#include "serve/serve_metrics.hpp"

#include <heddle/base/number_text.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

/// The value of a label between quotes.
std::string label(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n') out += "\\n";
        else out += c;
    }
    return out + '"';
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
    out += "# HELP heddle_";
    out += name;
    out += ' ';
    out += help;
    out += "\n# TYPE heddle_";
    out += name;
    out += ' ';
    out += type;
    out += '\n';
}

void line(std::string& out, std::string_view name, const std::string& labels,
          const std::string& number) {
    out += "heddle_";
    out += name;
    if (!labels.empty()) out += '{' + labels + '}';
    out += ' ' + number + '\n';
}

std::string text_of(double number) { return number_text(number); }

void one(std::string& out, std::string_view name, std::string_view type, std::string_view help,
         const std::string& number) {
    head(out, name, type, help);
    line(out, name, {}, number);
}

} // namespace

void serve_metrics::ended(std::string_view function, int status, std::chrono::nanoseconds took) {
    ++requests_[{std::string(function), status}];
    auto found = seconds_.find(function);
    if (found == seconds_.end()) found = seconds_.emplace(function, histogram()).first;
    const double seconds = std::chrono::duration<double>(took).count();
    const auto place = std::lower_bound(bounds.begin(), bounds.end(), seconds);
    ++found->second.counts[static_cast<std::size_t>(place - bounds.begin())];
    found->second.seconds += seconds;
}

std::string serve_metrics::text(const runtime_stats& runtime, bool is_ready) const {
    std::string out;
    head(out, "requests_total", "counter", "Requests by function and status.");
    for (const auto& [key, count] : requests_) {
        line(out, "requests_total",
             "function=" + label(key.first) + ",status=\"" + std::to_string(key.second) + "\"",
             std::to_string(count));
    }
    head(out, "request_seconds", "histogram", "Time from a request to the end of its response.");
    for (const auto& [function, times] : seconds_) {
        const std::string name = "function=" + label(function);
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < bounds.size(); ++i) {
            below += times.counts[i];
            line(out, "request_seconds_bucket", name + ",le=\"" + text_of(bounds[i]) + "\"",
                 std::to_string(below));
        }
        below += times.counts.back();
        line(out, "request_seconds_bucket", name + ",le=\"+Inf\"", std::to_string(below));
        line(out, "request_seconds_sum", name, text_of(times.seconds));
        line(out, "request_seconds_count", name, std::to_string(below));
    }
    head(out, "client_requests_total", "counter", "Requests by the owner of their token.");
    for (const auto& [client, count] : clients_)
        line(out, "client_requests_total", "client=" + label(client), std::to_string(count));
    head(out, "model_errors_total", "counter", "Calls that failed because of a model, by reason.");
    for (const auto& [reason, count] : model_errors_)
        line(out, "model_errors_total", "reason=" + label(reason), std::to_string(count));

    const call_stats& all = runtime.all;
    one(out, "requests_in_progress", "gauge", "Requests whose response is not complete.",
        std::to_string(in_progress_));
    one(out, "calls_running", "gauge", "Workflows that run.", std::to_string(all.running));
    one(out, "calls_queued", "gauge", "Calls that wait for others to end.",
        std::to_string(all.queued));
    one(out, "model_requests_running", "gauge", "Calls of tasks now.",
        std::to_string(all.requests_running));
    one(out, "model_requests_total", "counter", "Requests sent to services, retries included.",
        std::to_string(all.requests));
    head(out, "tokens_total", "counter", "Tokens that models have used.");
    line(out, "tokens_total", "direction=\"input\"", std::to_string(all.input_tokens));
    line(out, "tokens_total", "direction=\"output\"", std::to_string(all.output_tokens));
    one(out, "cost_usd_total", "counter", "Cost of the calls whose price is known, in US dollars.",
        text_of(all.cost_usd));
    one(out, "unpriced_calls_total", "counter", "Calls that used tokens of an unknown price.",
        std::to_string(all.unpriced));
    one(out, "calls_refused_total", "counter", "Calls for which there was no place in the queue.",
        std::to_string(runtime.refused));
    one(out, "ready", "gauge", "1, or 0 while the server drains.", is_ready ? "1" : "0");
    return out;
}

} // namespace heddle::cli
