#include "common/service_error.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/redaction.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/providers/common/json_text.hpp>

#include <algorithm>
#include <array>

namespace heddle::providers {

namespace {

constexpr std::size_t max_shown = 300;
constexpr std::size_t max_label = 64; // of a type, a code, a request id
constexpr std::string_view hidden_mark = "[hidden]";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> names) noexcept {
    return std::find(names.begin(), names.end(), text) != names.end();
}

bool is_quota(const service_failure& failure) noexcept {
    for (const std::string_view name : {failure.code, failure.type}) {
        if (is_one_of(name, {"insufficient_quota", "billing_hard_limit_reached",
                             "billing_not_active", "quota_exceeded"})) {
            return true;
        }
    }
    return false;
}

/// An error inside a stream has no status: its type has to do.
ports::llm_errc classify_by_type(const service_failure& failure) noexcept {
    using ports::llm_errc;
    if (is_quota(failure)) return llm_errc::quota;
    for (const std::string_view name : {failure.code, failure.type}) {
        if (is_one_of(name, {"rate_limit_exceeded", "rate_limit_error", "requests", "tokens"})) {
            return llm_errc::rate_limit;
        }
        if (is_one_of(name, {"overloaded_error", "service_unavailable"}))
            return llm_errc::overloaded;
        if (is_one_of(name, {"invalid_api_key", "authentication_error"})) {
            return llm_errc::authentication;
        }
        if (is_one_of(name, {"permission_error", "request_forbidden"})) return llm_errc::permission;
        if (is_one_of(name, {"model_not_found", "not_found_error"})) return llm_errc::not_found;
        if (is_one_of(name, {"content_filter", "content_policy_violation"})) {
            return llm_errc::content_refused;
        }
        if (name == "invalid_request_error") return llm_errc::invalid_request;
    }
    return llm_errc::server;
}

bool may_pass(ports::llm_errc kind, const service_failure& failure) noexcept {
    using ports::llm_errc;
    // What is wrong with the request or the account stays wrong, whatever a header has.
    if (kind == llm_errc::quota || failure.status == 400 || failure.status == 401) return false;
    if (failure.advice.should_retry) return *failure.advice.should_retry;
    switch (kind) {
    case llm_errc::rate_limit:
    case llm_errc::overloaded:
    case llm_errc::server:
    case llm_errc::request_timeout:
    case llm_errc::conflict: return true;
    default: return false;
    }
}

bool is_key_character(char c) noexcept {
    return ascii::is_letter(c) || ascii::is_digit(c) || c == '-' || c == '_' || c == '.';
}

/// Takes out what follows the usual beginnings of a key: other people's keys are no more to be
/// shown than ours.
void hide_keys(std::string& text) {
    constexpr std::size_t shortest = 12;
    for (const std::string_view beginning :
         {std::string_view("sk-"), std::string_view("AIza"), std::string_view("Bearer ")}) {
        for (std::size_t at = text.find(beginning); at != std::string::npos;
             at = text.find(beginning, at + 1)) {
            const std::size_t begin = at + beginning.size();
            std::size_t end = begin;
            while (end < text.size() && is_key_character(text[end])) ++end;
            if (end - begin >= shortest) text.replace(begin, end - begin, hidden_mark);
        }
    }
}

/// Without control characters; runs of blanks are one blank.
std::string one_line(std::string_view text) {
    std::string line;
    line.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const utf8::code_point point = utf8::decode(text, at);
        const bool blank = point.value == ' ' || utf8::is_control(point.value);
        if (!blank) utf8::append(line, point.value);
        else if (!line.empty() && line.back() != ' ') line += ' ';
        at += point.bytes;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

/// "20 s", "1.5 s", "350 ms".
std::string span_text(std::chrono::milliseconds span) {
    const auto count = span.count();
    if (count < 1000) return std::to_string(count) + " ms";
    std::string text = std::to_string(count / 1000);
    if (count < 100'000 && count % 1000 >= 100) text += "." + std::to_string(count % 1000 / 100);
    return text + " s";
}

void append_label(std::string& message, std::string_view label, const secret* hidden) {
    if (!label.empty()) message += ", " + presentable(label, max_label, hidden);
}

} // namespace

ports::llm_errc classify(const service_failure& failure) noexcept {
    using ports::llm_errc;
    if (failure.kind) return *failure.kind;
    switch (failure.status) {
    case 0: return classify_by_type(failure);
    case 400:
        return is_one_of(failure.code, {"content_filter", "content_policy_violation"})
                   ? llm_errc::content_refused
                   : llm_errc::invalid_request;
    case 401: return llm_errc::authentication;
    case 402: return llm_errc::quota;
    case 403: return llm_errc::permission;
    case 404: return llm_errc::not_found;
    case 408: return llm_errc::request_timeout;
    case 409: return llm_errc::conflict;
    case 429: return is_quota(failure) ? llm_errc::quota : llm_errc::rate_limit;
    case 503:
    case 529: return llm_errc::overloaded;
    default: break;
    }
    if (failure.status >= 500 && failure.status < 600) return llm_errc::server;
    if (failure.status >= 400 && failure.status < 500) return llm_errc::invalid_request;
    return llm_errc::protocol; // a redirection, which no model service has reason to send
}

retry_advice advice_of(const ports::http_response& received,
                       std::chrono::system_clock::time_point wall_now) {
    return read_retry_advice(received.header("x-should-retry"), received.header("retry-after-ms"),
                             received.header("retry-after"), wall_now);
}

error make_service_error(std::string_view provider_name, const service_failure& failure,
                         const secret* hidden) {
    using ports::llm_errc;
    const llm_errc kind = classify(failure);
    const boost::system::error_code code = ports::make_error_code(kind);

    retry_advice advice = failure.advice;
    if (!advice.wait && (kind == llm_errc::rate_limit || kind == llm_errc::overloaded)) {
        advice.wait = read_retry_text(failure.message);
    }
    std::string message(provider_name);
    message += ": " + code.message();
    if (failure.status != 0) message += " (HTTP " + std::to_string(failure.status);
    else message += failure.in_stream ? " (in the stream" : " (in the response";
    append_label(message, failure.code.empty() ? failure.type : failure.code, hidden);
    append_label(message, failure.request_id, hidden);
    if (advice.wait && advice.wait->count() > 0)
        message += ", retry after " + span_text(*advice.wait);
    message += ')';
    if (!failure.message.empty()) message += ": " + presentable(failure.message, max_shown, hidden);

    error problem = error(code, std::move(message))
                        .with_origin(error_origin::server)
                        .with_retryable(may_pass(kind, failure));
    if (advice.wait) problem = std::move(problem).with_retry_after(*advice.wait);
    return problem;
}

error make_protocol_error(std::string_view provider_name, std::string_view what,
                          std::string_view seen, const secret* hidden) {
    std::string message(provider_name);
    message += ": ";
    message += what;
    if (!seen.empty()) message += ": " + presentable(seen, max_shown, hidden);
    return error(ports::make_error_code(ports::llm_errc::protocol), std::move(message))
        .with_origin(error_origin::server)
        .with_retryable(false);
}

error from_http_error(error failure, std::string_view provider_name) {
    using ports::http_errc;
    using ports::llm_errc;
    if (failure.is_cancelled() || failure.code().category() != ports::http_category())
        return failure;
    llm_errc kind = llm_errc::connection;
    bool retryable = is_retryable(failure);
    switch (static_cast<http_errc>(failure.code().value())) {
    case http_errc::connect_timeout:
    case http_errc::first_byte_timeout:
    case http_errc::idle_timeout:
    case http_errc::total_timeout: kind = llm_errc::request_timeout; break;
    case http_errc::protocol_error:
    case http_errc::header_too_large:
    case http_errc::body_too_large: kind = llm_errc::protocol; break;
    case http_errc::invalid_url:
    case http_errc::redirect_refused:
        kind = llm_errc::configuration;
        retryable = false;
        break;
    default: break;
    }
    error problem(ports::make_error_code(kind),
                  std::string(provider_name) + ": " + failure.message());
    if (!failure.info().hint.empty()) problem = std::move(problem).with_hint(failure.info().hint);
    return std::move(problem)
        .with_origin(failure.info().origin)
        .with_retryable(retryable)
        .with_cause(failure);
}

std::string presentable(std::string_view text, std::size_t max_bytes, const secret* hidden) {
    // Keys are looked for before anything is cut off, so that no part of one stays at the cut; the
    // whole of a big text is not worked through, though: what lies far behind is dropped first.
    constexpr std::size_t max_key_length = 4096;
    const std::size_t kept = 4 * max_bytes + max_key_length;
    const bool dropped = text.size() > kept;
    std::string shown(utf8::prefix(text, kept));
    if (hidden) redactor({*hidden}, hidden_mark, redactor::min_length_in_errors).hide(shown);
    hide_keys(shown);
    if (dropped) utf8::shorten(shown, shown.size() - std::min(shown.size(), max_key_length));
    shown = one_line(shown);

    if (!dropped) return utf8::shortened(shown, max_bytes);
    utf8::shorten(shown, max_bytes);
    return shown += "…";
}

} // namespace heddle::providers
