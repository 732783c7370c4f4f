#include <heddle/failure.hpp>

#include "plain_error.hpp"

#include <heddle/base/cancel_reason_name.hpp>
#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <array>

namespace heddle {

namespace {

class runtime_category_impl final : public boost::system::error_category {
public:
    const char* name() const noexcept override { return "heddle.runtime"; }
    std::string message(int code) const override {
        switch (static_cast<runtime_errc>(code)) {
        case runtime_errc::ok: break;
        case runtime_errc::overloaded: return "too many calls";
        case runtime_errc::stopped: return "the runtime has stopped";
        case runtime_errc::no_function: return "no such function";
        case runtime_errc::bad_input: return "bad input";
        case runtime_errc::tag_in_use: return "the tag is in use";
        case runtime_errc::tag_mismatch: return "the tag is that of another call";
        }
        return "ok";
    }
};

json place_json(const failure_place& place) {
    return json::object{{"file", place.file}, {"line", place.line}, {"column", place.column}};
}

std::string_view kind_of(const error& failure) noexcept {
    if (const failure_details* details = details_of(failure)) return details->kind;
    return embed::kind_without_details(failure);
}

// Status codes, by what is asked of whom waits for the answer.
namespace status {
constexpr int bad_request = 400;
constexpr int payment_required = 402;
constexpr int not_found = 404;
constexpr int conflict = 409;
constexpr int unprocessable = 422;
constexpr int too_many_requests = 429;
constexpr int client_closed_request = 499; // of nginx; nobody sees it but logs
constexpr int internal = 500;
constexpr int bad_gateway = 502;
constexpr int unavailable = 503;
constexpr int gateway_timeout = 504;
} // namespace status

int status_of(cancel_reason reason) noexcept {
    switch (reason) {
    case cancel_reason::user: return status::client_closed_request;
    case cancel_reason::deadline: return status::gateway_timeout;
    case cancel_reason::budget: return status::payment_required;
    case cancel_reason::shutdown: return status::unavailable;
    default: return status::internal;
    }
}

int status_of(runtime_errc code) noexcept {
    switch (code) {
    case runtime_errc::overloaded:
    case runtime_errc::stopped: return status::unavailable;
    case runtime_errc::no_function: return status::not_found;
    case runtime_errc::bad_input: return status::unprocessable;
    case runtime_errc::tag_in_use:
    case runtime_errc::tag_mismatch: return status::conflict;
    default: return status::internal;
    }
}

int status_of(ports::llm_errc code) noexcept {
    switch (code) {
    case ports::llm_errc::rate_limit:
    case ports::llm_errc::quota: return status::too_many_requests;
    case ports::llm_errc::overloaded: return status::unavailable;
    case ports::llm_errc::request_timeout: return status::gateway_timeout;
    case ports::llm_errc::configuration: return status::internal;
    default: return status::bad_gateway;
    }
}

/// The status that the error of a service in the causes asks for, or 0.
int status_of_causes(const error& failure) noexcept {
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        const auto& code = each->code();
        if (code.category() == ports::llm_category())
            return status_of(static_cast<ports::llm_errc>(code.value()));
    }
    return 0;
}

const std::string* text_in(const json& of, std::string_view name) noexcept {
    const json* found = of.find(name);
    return found ? found->get_if<std::string>() : nullptr;
}

/// The same for a code in the notes of a task result (docs/reference/errors.md).
int status_of_code(std::string_view code) noexcept {
    using enum ports::llm_errc;
    for (const ports::llm_errc each : {rate_limit, quota, overloaded, request_timeout}) {
        if (ports::make_error_code(each).message() == code) return status_of(each);
    }
    return 0;
}

/// The error in the notes of a task result; null: there is none.
const json* noted_error(const json& result) noexcept {
    const json* notes = result.find("notes");
    return notes ? notes->find("error") : nullptr;
}

/// The status for a task that failed, of which only data is left.
int status_of_task(const error& failure, const failure_details& details) noexcept {
    if (const json* noted = noted_error(details.result)) {
        const std::string* resource = text_in(*noted, "resource");
        if (resource && (*resource == "cost" || *resource == "calls"))
            return status::payment_required;
        if (resource && *resource == "time") return status::gateway_timeout;
        const json* about = noted->find("details");
        const std::string* code = about ? text_in(*about, "code") : nullptr;
        if (const int found = code ? status_of_code(*code) : 0) return found;
    }
    if (const int found = status_of_causes(failure)) return found;
    using enum tasks::task_failure_reason;
    switch (tasks::task_failure_reason_from(details.reason).value_or(unexpected_error)) {
    case execution_timeout: return status::gateway_timeout;
    case llm_error:
    case connection_error:
    case protocol_error: return status::bad_gateway;
    default: return status::internal;
    }
}

} // namespace

const boost::system::error_category& runtime_category() noexcept {
    static const runtime_category_impl category;
    return category;
}

const failure_details* details_of(const error& failure) noexcept {
    return dynamic_cast<const failure_details*>(failure.info().payload.get());
}

json to_json(const error& failure) {
    const error_info& info = failure.info();
    const failure_details* details = details_of(failure);
    json::object members{{"kind", kind_of(failure)}, {"message", info.message}};
    if (details && !details->reason.empty()) members.set("reason", details->reason);
    if (failure.is_cancelled())
        members.set("cancelled_because", name_of(failure.cancelled_because()));
    if (!info.hint.empty()) members.set("hint", info.hint);
    if (info.retry_after) members.set("retry_after_ms", info.retry_after->count());
    if (!details) return members;
    if (details->place) members.set("place", place_json(*details->place));
    if (!details->trace.empty()) {
        json::array lines;
        for (const failure_line& each : details->trace) {
            json::object line{{"what", each.what}};
            if (each.place) line.set("place", place_json(*each.place));
            lines.emplace_back(std::move(line));
        }
        members.set("trace", std::move(lines));
    }
    if (!details->causes.empty())
        members.set("causes", json::array(details->causes.begin(), details->causes.end()));
    if (!details->further.empty())
        members.set("further", json::array(details->further.begin(), details->further.end()));
    if (!details->data.is_null()) members.set("data", details->data);
    if (!details->result.is_null()) members.set("result", details->result);
    if (details->used != usage()) members.set("usage", to_json(details->used));
    if (!details->tag.empty()) members.set("tag", details->tag);
    return members;
}

std::string to_text(const error& failure) {
    const failure_details* details = details_of(failure);
    if (details && !details->text.empty()) return details->text;
    return render_diagnostic(kind_of(failure), failure, source_map());
}

int http_status(const error& failure) noexcept {
    if (failure.is_cancelled()) return status_of(failure.cancelled_because());
    const auto& code = failure.code();
    if (code.category() == runtime_category())
        return status_of(static_cast<runtime_errc>(code.value()));
    if (code.category() == ports::llm_category()) return status_of_causes(failure);
    if (code == make_error_code(lang::errc::timeout)) return status::gateway_timeout;
    if (code == make_error_code(errc::invalid_argument)) return status::bad_request;
    if (code == make_error_code(lang::errc::task)) {
        if (const failure_details* details = details_of(failure))
            return status_of_task(failure, *details);
    }
    return status::internal;
}

} // namespace heddle
