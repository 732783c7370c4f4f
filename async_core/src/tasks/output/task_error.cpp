#include <heddle/tasks/output/task_error.hpp>

#include "tasks/output/failure_reason.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <array>

namespace heddle::tasks {

namespace {

using reason = task_failure_reason;

/// The error that a FAILED TaskResult carries, if it can be read.
[[nodiscard]] std::optional<task_error> error_of_result(const lang::value& result_map) {
    if (!result_map.is(lang::kind::map)) return std::nullopt;
    const lang::value* notes = lang::map_find(result_map, "notes");
    const lang::value* what =
        notes && notes->is(lang::kind::map) ? lang::map_find(*notes, "error") : nullptr;
    if (!what) return std::nullopt;
    auto read = task_error_from_value(*what);
    if (!read) return std::nullopt;
    return *std::move(read);
}

[[nodiscard]] reason reason_of_language(const error& failure) {
    switch (static_cast<lang::errc>(failure.code().value())) {
    case lang::errc::timeout: return reason::execution_timeout;
    case lang::errc::syntax: return reason::input_validation_failure;
    case lang::errc::permission: return reason::configuration_error;
    default: return reason::unexpected_error;
    }
}

} // namespace

std::string_view task_error::type_name() const noexcept {
    static constexpr std::array<std::string_view, std::variant_size_v<kind>> names{
        "RESOURCE_EXHAUSTION", "TASK_FAILURE", "INVALID_OUTPUT", "VALIDATION_ERROR",
        "XML_PARSE_ERROR"};
    return names[what.index()];
}

task_error task_error_from(const error& failure) {
    task_error task;
    task.message = failure.message();
    task_error::failure plain;
    if (failure.is_cancelled()) {
        plain.reason = failure.cancelled_because() == cancel_reason::deadline
                           ? reason::execution_timeout
                           : reason::execution_halted;
        if (task.message.empty()) {
            task.message =
                plain.reason == reason::execution_timeout ? "the time is over" : "it was stopped";
        }
        task.what = std::move(plain);
        return task;
    }
    const auto* script = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    if (script && script->result.is(lang::kind::map)) {
        if (auto reported = error_of_result(script->result)) return *std::move(reported);
    }
    if (failure.code().category() == lang::lang_category()) {
        if (failure.code() == lang::make_error_code(lang::errc::limit)) {
            task.what = task_error::resource_exhaustion{"language", std::nullopt};
            return task;
        }
        plain.reason = reason_of_language(failure);
        if (script && !script->reason.empty()) {
            plain.reason =
                task_failure_reason_from(script->reason).value_or(reason::unexpected_error);
        }
    } else {
        plain.reason = failure_reason(failure);
    }
    task.what = std::move(plain);
    return task;
}

error to_error(const task_error& what) {
    auto payload = std::make_shared<lang::script_payload>();
    if (const auto* failed = std::get_if<task_error::failure>(&what.what)) {
        payload->reason = to_string(failed->reason);
    } else payload->reason = what.type_name();
    return error(lang::errc::task, what.message).with_payload(std::move(payload));
}

} // namespace heddle::tasks
