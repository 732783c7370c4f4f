#include "lang/builtins/results.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include "lang/builtins/support.hpp"
#include "lang/text/text_builder.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

using arguments_span = std::span<value>;

[[nodiscard]] bool is_result(const value& v) noexcept {
    return v.is(kind::map) && map_find(v, "status") && map_find(v, "content");
}

[[nodiscard]] bool has_failed(const value& result) noexcept {
    const value* status = map_find(result, "status");
    return status->is(kind::string) && string_bytes(*status) == "FAILED";
}

/// Valid as long as the map.
[[nodiscard]] std::string_view view_of_field(const value* map, std::string_view name) {
    if (!map || !map->is(kind::map)) return {};
    const value* found = map_find(*map, name);
    return found && found->is(kind::string) ? string_bytes(*found) : std::string_view();
}
/// What an error keeps of it.
[[nodiscard]] std::string text_field(const value* map, std::string_view name) {
    return utf8::shortened(view_of_field(map, name), max_error_text);
}

/// notes.error; null when there is none.
[[nodiscard]] const value* described_error(const value& result) noexcept {
    const value* notes = map_find(result, "notes");
    return notes && notes->is(kind::map) ? map_find(*notes, "error") : nullptr;
}

/// The hint in notes.error.details, and the errors behind it. More than an error keeps are not
/// looked at.
[[nodiscard]] error with_details(error failure, const value* details) {
    constexpr std::size_t max_causes = 64;
    if (!details || !details->is(kind::map)) return failure;
    if (std::string hint = text_field(details, "hint"); !hint.empty()) {
        failure = std::move(failure).with_hint(std::move(hint));
    }
    const value* causes = map_find(*details, "causes");
    if (!causes || !causes->is(kind::list)) return failure;
    const auto items = list_items(*causes);
    for (const value& cause : items.first(std::min(items.size(), max_causes))) {
        if (!cause.is(kind::string)) continue;
        failure = std::move(failure).with_last_cause(
            error(errc::task, utf8::shortened(string_bytes(cause), max_error_text)));
    }
    return failure;
}

/// The TaskError that a FAILED result represents.
[[nodiscard]] value fail_task(native_call& call, const value& result) {
    const value* described = described_error(result);
    auto payload = std::make_shared<script_payload>();
    payload->reason = text_field(described, "reason");
    if (payload->reason.empty()) payload->reason = text_field(described, "type");
    if (payload->reason.empty()) payload->reason = "unexpected_error";
    payload->result = result;
    std::string_view description = view_of_field(described, "message");
    if (description.empty()) description = view_of_field(&result, "content");
    if (description.empty()) description = "the task failed";
    if (!call.spend_bytes(payload->reason.size())) return {};
    // Where there is no room for it, its beginning has to do.
    const std::size_t bytes = description.size() + 2 * max_error_text;
    if (bytes >= value::max_length || !call.memory().can_allocate(bytes))
        description = utf8::prefix(description, max_error_text);
    text_builder text(call.work());
    text.tail() +=
        std::string(call.row().name) + ": the result is FAILED (" + payload->reason + "): ";
    if (!text.append(description)) return {};
    const auto message = std::move(text).to_value(call.memory());
    if (!message) return {};
    error failure =
        error_with_message(errc::task, *message, payload).with_origin(error_origin::script);
    const bool is_map = described && described->is(kind::map);
    return call.fail(
        with_details(std::move(failure), is_map ? map_find(*described, "details") : nullptr));
}

/// A field of a result that has not failed.
[[nodiscard]] value field_of_success(native_call& call, arguments_span arguments,
                                     std::string_view name) {
    const value& result = arguments[0];
    if (!is_result(result)) return call.fail_type(1, "a task result", result);
    if (has_failed(result)) return fail_task(call, result);
    const value* found = map_find(result, name);
    return found ? *found : value();
}

} // namespace

bool is_failed_result(const value& v) noexcept { return is_result(v) && has_failed(v); }

std::string failed_reason(const value& result) {
    const value* described = described_error(result);
    std::string reason = text_field(described, "reason");
    return reason.empty() ? text_field(described, "type") : reason;
}

bool is_used_up(const value& result) {
    const value* described = described_error(result);
    const std::string resource = text_field(described, "resource");
    return text_field(described, "type") == "RESOURCE_EXHAUSTION" &&
           (resource == "calls" || resource == "cost");
}

const value* field_of(const value& map, std::string_view name) noexcept {
    if (const value* found = map_find(map, name)) return found;
    if (!is_result(map)) return nullptr;
    const value* parsed = map_find(map, "parsedContent");
    return parsed && parsed->is(kind::map) ? map_find(*parsed, name) : nullptr;
}

bool lacks_answer(const value& container, std::string_view name) noexcept {
    static constexpr std::array<std::string_view, 5> parts{"status", "content", "parsedContent",
                                                           "criteria", "notes"};
    return is_failed_result(container) &&
           std::find(parts.begin(), parts.end(), name) == parts.end();
}

value fail_of_result(native_call& call, const value& result) { return fail_task(call, result); }

value result_content(native_call& call, arguments_span a) {
    return field_of_success(call, a, "content");
}

value result_parsed(native_call& call, arguments_span a) {
    return field_of_success(call, a, "parsedContent");
}

value result_notes(native_call& call, arguments_span a) {
    if (!is_result(a[0])) return call.fail_type(1, "a task result", a[0]);
    const value* notes = map_find(a[0], "notes");
    return notes ? *notes : value::empty_map();
}

value result_is_ok(native_call& call, arguments_span a) {
    if (!is_result(a[0])) return call.fail_type(1, "a task result", a[0]);
    return value::boolean(!has_failed(a[0]));
}

} // namespace heddle::lang
