#include "tasks/run/execution_end.hpp"

#include "tasks/run/kept_refusal.hpp"
#include "tasks/run/subtasks.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <string>
#include <utility>

namespace heddle::tasks {

void execution_end::count(const ports::chat_response& response) {
    model_.count(response);
    report_.notes().responded(response);
}

void execution_end::count(const error& failure) {
    model_.count(failure);
    if (const ports::chat_response* part = ports::part_of(failure))
        report_.notes().responded(*part);
}

result<lang::value> execution_end::complete(task_ending end) {
    // Nothing else can hold a request.
    const bool may_ask = end.has_parsed || !report_.notes().further().is_nil();
    lang::value created = report_.build(std::move(end));
    asks_for_subtask_ = may_ask && !asked_subtask(created).is_nil();
    if (asks_for_subtask_) return created;
    complete_with(created);
    return created;
}

void execution_end::complete_with(const lang::value& of_subtask) {
    history_.record(dialog_, of_subtask);
    if (history_.records()) report_.leaves_trace();
    report_.complete();
}

result<lang::value> execution_end::exhaust(const exhausted_resource& what, std::string_view said) {
    return report_.exhaust(what, said.empty() ? dialog_.last_said() : said);
}

result<lang::value> execution_end::exhaust(const spent_budget& over) {
    return exhaust({over.resource, over.used, over.limit, over.message}, {});
}

/// What the model has written is the content, whatever came after it.
result<lang::value> execution_end::take_error(error failure, std::string_view said) {
    count(failure);
    const ports::chat_response* part = ports::part_of(failure);
    std::string kept = part ? part->text : std::string();
    if (kept.empty()) kept = said.empty() ? dialog_.last_said() : said;
    if (const stopped_call* stop = stopped_by(failure)) {
        const spent_budget& over = stop->over;
        return report_.exhaust({over.resource, over.used, over.limit, over.message}, kept);
    }
    if (!failure.is_cancelled()) return report_.fail_request(std::move(failure), kept);
    if (!time_.is_over(failure)) return report_.cancel(std::move(failure));
    return report_.exhaust(time_.exhausted(), kept);
}

result<lang::value> execution_end::refuse(error failure, std::string_view said) {
    if (failure.is_cancelled()) return take_error(std::move(failure).with_attempts(0), said);
    return report_.raise(std::move(failure));
}

result<lang::value> execution_end::refuse_step(error failure, bool of_workflow) {
    if (failure.is_cancelled()) return take_error(std::move(failure).with_attempts(0));
    const auto* payload = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    const bool data = !of_workflow && failure.code() == lang::errc::task && payload &&
                      !lang::passes_catches(failure) &&
                      payload->reason != to_string(task_failure_reason::input_validation_failure) &&
                      payload->reason != to_string(task_failure_reason::configuration_error);
    if (!data) return report_.placed(std::move(failure));
    const std::string message = failure.message();
    return report_.fail(report_.ending(message), {payload->reason, message, {}});
}

result<lang::value> execution_end::abandon(const result<ports::chat_response>& response,
                                           error failure) {
    if (response) count(*response);
    else count(response.error());
    return refuse(std::move(failure));
}

} // namespace heddle::tasks
