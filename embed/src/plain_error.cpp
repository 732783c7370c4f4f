#include "plain_error.hpp"

#include "json_values.hpp"

#include <heddle/base/detached_error.hpp>
#include <heddle/base/diagnostic.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/realm.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

namespace heddle::embed {

namespace {

constexpr std::size_t max_data_bytes = 256 * 1024;
constexpr std::size_t max_causes = 64;

std::optional<failure_place> place_of(const source_map& sources, source_span span) {
    source_location found = sources.locate(span);
    if (found.line == 0) return std::nullopt;
    return failure_place{std::move(found.file), found.line, found.column};
}

json data_of(const lang::value& given) {
    result<json> created = from_value(given, max_data_bytes);
    return created ? *std::move(created) : json(created.error().message());
}

/// How long the service asks to wait, of which only the task result is left.
std::optional<std::chrono::milliseconds> wait_of(const json& result) {
    const json* found = &result;
    for (const char* each : {"notes", "error", "details", "retry_after_ms"}) {
        found = found->find(each);
        if (!found) return std::nullopt;
    }
    const auto* wait = found->get_if<std::int64_t>();
    if (!wait) return std::nullopt;
    return std::chrono::milliseconds(*wait);
}

/// The causes of `failure` are kept for their codes: a status is chosen by them.
error with_causes_of(error copy, const error& failure, std::vector<std::string>& messages) {
    for (const error* cause = failure.info().cause.get(); cause && messages.size() < max_causes;
         cause = cause->info().cause.get()) {
        messages.push_back(cause->message());
        copy = std::move(copy).with_last_cause(detached_error(*cause));
    }
    return copy;
}

error made_plain(const error& failure, const source_map& sources, std::string text, usage used,
                 std::string tag) {
    const error_info& info = failure.info();
    auto details = std::make_shared<failure_details>();
    details->kind = kind_without_details(failure);
    details->place = place_of(sources, info.span);
    details->text = std::move(text);
    details->used = used;
    details->tag = std::move(tag);
    error copy = detached_error(failure);
    for (const trace_entry& each : info.trace) {
        details->trace.push_back({each.what, place_of(sources, each.where)});
        copy = std::move(copy).with_trace(each.what);
    }
    copy = with_causes_of(std::move(copy), failure, details->causes);
    const auto* script = dynamic_cast<const lang::script_payload*>(info.payload.get());
    if (script) {
        details->reason = script->reason;
        if (!script->data.is_nil()) details->data = data_of(script->data);
        if (!script->result.is_nil()) details->result = data_of(script->result);
    }
    if (!info.retry_after) {
        if (const auto wait = wait_of(details->result))
            copy = std::move(copy).with_retry_after(*wait);
    }
    return std::move(copy).with_payload(std::move(details));
}

} // namespace

std::string_view kind_without_details(const error& failure) noexcept {
    if (failure.code().category() == runtime_category()) return "RuntimeError";
    return lang::error_kind_name(failure);
}

error plain_error(const error& failure, host::session& from, usage used, std::string tag) {
    return made_plain(failure, from.realm().sources(), from.render(failure), used, std::move(tag));
}

error plain_error(const error& failure, usage used, std::string tag) {
    const source_map unknown;
    return made_plain(failure, unknown,
                      render_diagnostic(kind_without_details(failure), failure, unknown), used,
                      std::move(tag));
}

} // namespace heddle::embed
