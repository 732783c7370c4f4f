#include "tasks/run/execution_report.hpp"

#include "tasks/output/failure_reason.hpp"

#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/ports/step_memory.hpp>
#include <heddle/tasks/output/task_error.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <string>
#include <utility>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_evaluators = 3;

/// What failed before, such as the other models of a route. Nil when there is nothing that the
/// message does not say.
lang::value causes_of(lang::heap& memory, const error& failure) {
    lang::value result;
    const error* outer = &failure;
    for (const error* each = failure.info().cause.get(); each; each = each->info().cause.get()) {
        const bool said = outer->message().find(each->message()) != std::string::npos;
        outer = each;
        if (said || each->is_cancelled()) continue;
        if (result.is_nil()) result = lang::value::empty_list();
        result = lang::list_push_back(memory, std::move(result),
                                      lang::make_string(memory, each->message()));
    }
    return result;
}

/// The response has come, and was too long for the time of a request.
[[nodiscard]] bool is_slow_response(const error& failure) noexcept {
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        if (each->code() == ports::make_error_code(ports::http_errc::total_timeout)) return true;
    }
    return false;
}

/// Whether the service fails, whatever it is asked.
[[nodiscard]] bool is_outage(const error& failure) noexcept {
    if (failure.code() == ports::make_error_code(ports::llm_errc::request_timeout))
        return !is_slow_response(failure);
    return failure_reason(failure) == task_failure_reason::connection_error ||
           failure.code() == ports::make_error_code(ports::llm_errc::overloaded) ||
           failure.code() == ports::make_error_code(ports::llm_errc::server);
}

} // namespace

execution_report::~execution_report() {
    // Destroyed while the execution waits: the loop is going down.
    finished(task_outcome::cancelled, {});
}

void execution_report::started() {
    started_ = true;
    if (!of_.observer) return;
    of_.observer->on_task_started(
        {of_.call.task->declared.name, of_.choices.provider_name(), of_.choices.model()});
}

void execution_report::finished(task_outcome outcome, std::string_view reason) noexcept {
    if (!std::exchange(started_, false)) return;
    const task_session& session = *of_.chain.session;
    const paid_figures& paid = session.paid_now();
    if (ports::step_memory* step = of_.call.context.step) {
        ports::step_spending spent;
        spent.requests = paid.requests;
        spent.input_tokens = paid.usage.input;
        spent.output_tokens = paid.usage.output;
        spent.estimated = session.estimated();
        if (paid.is_known) spent.cost_usd = paid.usd;
        else spent.unpriced = paid.requests;
        step->note_spending(spent);
    }
    if (!of_.observer) return;
    task_finished event;
    event.task = of_.call.task->declared.name;
    event.provider = of_.choices.provider_name();
    event.model = of_.choices.model();
    event.outcome = outcome;
    event.reason = reason;
    event.usage = paid.usage;
    if (session.used() && paid.is_known) event.cost_usd = paid.usd;
    event.estimated = session.estimated();
    event.service_down = service_down_;
    event.earlier_turns = earlier_turns_;
    event.requests = paid.requests;
    event.of_cache = session.of_cache();
    event.latency = of_.time.elapsed();
    of_.observer->on_task_finished(event);
}

lang::value execution_report::pass_on(lang::value of_subtask) {
    take_warnings();
    return notes_.with_warnings(std::move(of_subtask));
}

/// What the session has noted since, for itself and for its subtasks.
void execution_report::take_warnings() {
    for (std::string& each : of_.chain.session->take_warnings()) notes_.warn(std::move(each));
}

void execution_report::leaves_trace() noexcept {
    if (ports::step_memory* step = of_.call.context.step) step->note_trace();
}

task_ending execution_report::ending(std::string_view content) {
    task_session& session = *of_.chain.session;
    take_warnings();
    task_ending end;
    end.task = of_.call.task.get();
    end.content = content;
    end.model = of_.choices.model();
    end.provider = of_.choices.provider_name();
    notes_.describe(end);
    end.usage = session.usage();
    end.usage_known = session.used();
    end.estimated = session.estimated();
    end.requests = session.requests();
    if (session.used()) end.cost = session.cost();
    end.latency = of_.time.elapsed();
    end.files = of_.chain.files.get();
    return end;
}

/// What only some tasks have in their notes: nil for the others.
lang::value execution_report::extra_notes(const task_ending& end) {
    const task_template& declared = of_.call.task->declared;
    lang::value result = notes_.further();
    const auto put = [&](std::string_view name, lang::value item) {
        if (result.is_nil()) result = lang::value::empty_map();
        result = lang::map_put(of_.memory, std::move(result), name, std::move(item));
    };
    if (declared.subtype == "evaluator" && end.has_parsed && end.parsed.is(lang::kind::map)) {
        for (const std::string_view name : {"success", "feedback", "details"}) {
            if (const lang::value* found = lang::map_find(end.parsed, name)) put(name, *found);
        }
    }
    if (!declared.criteria.empty()) {
        lang::value names = lang::value::empty_list();
        for (const matching_task& each : of_.tasks.find_matching_tasks(declared.criteria)) {
            if (each.found->task->declared.subtype != "evaluator") continue;
            names = lang::list_push_back(
                of_.memory, std::move(names),
                lang::make_string(of_.memory, each.found->task->declared.name));
            if (names.length() == max_evaluators) break;
        }
        put("evaluators", std::move(names));
    }
    return result;
}

lang::value execution_report::build(task_ending end) {
    end.extra_notes = extra_notes(end);
    return of_.results.build(end);
}

result<lang::value> execution_report::fail(task_ending end, const task_failure& failure) {
    end.failure = &failure;
    lang::value created = build(std::move(end));
    finished(task_outcome::failed, failure.resource.empty() || !failure.reason.empty()
                                       ? std::string_view(failure.reason)
                                       : std::string_view("RESOURCE_EXHAUSTION"));
    if (of_.choices.settings().raise_failures)
        return task_error_of(created).with_span(of_.call.span);
    return created;
}

result<lang::value> execution_report::exhaust(const exhausted_resource& what,
                                              std::string_view content) {
    task_failure failure{{}, what.message, {}};
    if (what.resource == "time") failure.reason = to_string(task_failure_reason::execution_timeout);
    failure.resource = what.resource;
    failure.used = what.used;
    failure.limit = what.limit;
    return fail(ending(content.empty() ? std::string_view(what.message) : content), failure);
}

result<lang::value> execution_report::fail_request(error failure, std::string_view content) {
    service_down_ = is_outage(failure);
    const task_failure_reason reason = failure_reason(failure);
    task_failure what{std::string(to_string(reason)), failure.message(), {}};
    if (reason == task_failure_reason::configuration_error) {
        finished(task_outcome::failed, what.reason);
        error raised = task_failed(reason, what.message);
        if (!failure.info().hint.empty()) raised = std::move(raised).with_hint(failure.info().hint);
        return placed(std::move(raised).with_cause(std::move(failure)));
    }
    lang::heap& memory = of_.memory;
    what.details =
        of_.results.make_details({{"code", lang::make_string(memory, failure.code().message())},
                                  {"hint", lang::make_string(memory, failure.info().hint)}});
    if (const auto wait = failure.info().retry_after) {
        what.details = lang::map_put(memory, std::move(what.details), "retry_after_ms",
                                     lang::value::integer(wait->count()));
    }
    if (lang::value causes = causes_of(memory, failure); !causes.is_nil()) {
        what.details = lang::map_put(memory, std::move(what.details), "causes", std::move(causes));
    }
    return fail(ending(content.empty() ? std::string_view(what.message) : content), what);
}

error execution_report::cancel(error cancelled) {
    finished(task_outcome::cancelled, {});
    return cancelled;
}

error execution_report::raise(error failure) {
    finished(task_outcome::failed, task_error_from(failure).type_name());
    return placed(std::move(failure));
}

error execution_report::placed(error failure) const {
    std::string what = "in task " + of_.call.task->declared.name;
    const std::vector<trace_entry>& trace = failure.info().trace;
    if (!trace.empty() && trace.back().what == what && trace.back().where == of_.call.span)
        return failure;
    return std::move(failure).with_span(of_.call.span).with_trace(std::move(what), of_.call.span);
}

} // namespace heddle::tasks
