#include "tasks/run/subtasks.hpp"

#include "tasks/run/clause_call.hpp"
#include "tasks/run/subtask_request.hpp"
#include "tasks/run/task_runner.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/ports/step_memory.hpp>
#include <heddle/tasks/output/task_error.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>
#include <utility>

namespace heddle::tasks {

namespace {

/// Context settings and files of a request, as the reserved clauses of a call.
[[nodiscard]] result<void> add_overrides(lang::heap& memory, lang::effect_request& request,
                                         const compiled_task& task, const subtask_request& wanted) {
    const auto add = [&](std::string_view clause, const lang::value& item) -> result<void> {
        if (item.is_nil()) return {};
        const auto& inputs = task.input_names;
        if (std::find(inputs.begin(), inputs.end(), clause) != inputs.end()) {
            return task_failed(task_failure_reason::input_validation_failure,
                               "subtask_request: the template has an input '" +
                                   std::string(clause) + "', which hides the setting");
        }
        add_clause(memory, request, clause, item);
        return {};
    };
    HEDDLE_CHECK(add("context", wanted.context));
    return add("file_paths", wanted.file_paths);
}

[[nodiscard]] result<task_call> bind_subtask(task_runner& runner, const lang::value& asked,
                                             const task_chain* chain, lang::scope_ref scope,
                                             source_span span, coro::call_context context) {
    HEDDLE_TRY(const subtask_request wanted, read_subtask_request(asked));
    HEDDLE_TRY(const registered_task* found, choose_template(runner.tasks(), wanted));
    const std::string& name = found->task->declared.name;
    if (auto stop = lang::refused_by_sandbox(scope, name)) return *std::move(stop);
    if (chain && chain->depth_left <= 0) {
        return task_failed(task_failure_reason::execution_halted,
                           "subtasks are nested deeper than " + std::to_string(chain->nesting()));
    }
    if (wanted.max_depth && *wanted.max_depth > task_chain::max_depth) {
        return task_failed(task_failure_reason::input_validation_failure,
                           "subtask_request: 'max_depth' must be at most " +
                               std::to_string(task_chain::max_depth));
    }
    host::session& session = runner.session();
    host::effect_call call =
        clause_call(session, found->callable, wanted.inputs, std::move(scope), span, context);
    HEDDLE_CHECK(add_overrides(session.memory(), call.request, *found->task, wanted));
    HEDDLE_TRY(task_call bound, bind_call(session.memory(), found->task, std::move(call)));
    bound.chain = chain;
    bound.max_depth = wanted.max_depth;
    if (!wanted.subtype.empty()) bound.subtype = wanted.subtype;
    if (chain && chain->has(bound)) {
        return task_failed(
            task_failure_reason::execution_halted,
            "the subtask '" + name + "' with the same inputs is already in the chain");
    }
    return bound;
}

[[nodiscard]] lang::value content_in(const lang::value& result) {
    const lang::value* content =
        result.is(lang::kind::map) ? lang::map_find(result, "content") : nullptr;
    const bool text = content && content->is(lang::kind::string) && content->length() != 0;
    return text ? *content : lang::value();
}

/// The subtask was not run, or raised its error. Errors: those of the workflow.
[[nodiscard]] result<subtask_outcome> failed_outcome(task_runner& runner, subtask_outcome outcome,
                                                     error failure) {
    if (lang::passes_catches(failure)) return failure;
    outcome.failed = true;
    outcome.message = message_with_hint(failure);
    outcome.failure = to_value(runner.session().memory(), task_error_from(failure));
    return outcome;
}

} // namespace

std::string message_with_hint(const error& failure) {
    std::string said = failure.message();
    if (!failure.info().hint.empty()) said += " (" + failure.info().hint + ")";
    return said;
}

coro::task<result<subtask_outcome>> run_subtask(task_runner& runner, lang::value asked,
                                                const task_chain* chain, lang::scope_ref scope,
                                                source_span span, coro::call_context context) {
    subtask_outcome outcome;
    outcome.depth = chain ? chain->nesting() + 1 : 1;
    auto call = bind_subtask(runner, asked, chain, std::move(scope), span, context);
    if (!call) co_return failed_outcome(runner, std::move(outcome), std::move(call).error());
    result<lang::value> ended = co_await runner.run(*std::move(call));
    if (!ended) co_return failed_outcome(runner, std::move(outcome), std::move(ended).error());
    outcome.result = *std::move(ended);
    outcome.failed = is_failed_result(outcome.result);
    if (outcome.failed) {
        outcome.message = task_error_of(outcome.result).message();
        const lang::value* notes = lang::map_find(outcome.result, "notes");
        const lang::value* what = notes ? lang::map_find(*notes, "error") : nullptr;
        if (what) outcome.failure = *what;
    }
    co_return outcome;
}

lang::value asked_subtask(const lang::value& ended) {
    if (is_failed_result(ended)) return {};
    if (const lang::value* notes = lang::map_find(ended, "notes")) {
        if (const lang::value* asked = lang::map_find(*notes, "subtask_request")) return *asked;
    }
    const lang::value* parsed = lang::map_find(ended, "parsedContent");
    const lang::value* asked = parsed ? continuation_of(*parsed) : nullptr;
    return asked ? *asked : lang::value();
}

lang::value partial_output(const lang::value& continued, const subtask_outcome& outcome) {
    const lang::value* message =
        outcome.failure.is(lang::kind::map) ? lang::map_find(outcome.failure, "message") : nullptr;
    const lang::value said = content_in(outcome.result);
    const bool is_error = message && message->is(lang::kind::string) &&
                          said.is(lang::kind::string) &&
                          lang::string_bytes(said) == lang::string_bytes(*message);
    if (!said.is_nil() && !is_error) return said;
    const lang::value* parsed =
        continued.is(lang::kind::map) ? lang::map_find(continued, "parsedContent") : nullptr;
    // A model asks with a TaskResult as its JSON: what it has so far is the content in there.
    return content_in(parsed ? *parsed : continued);
}

lang::value subtask_details(result_builder& results, const lang::value& asked,
                            const subtask_outcome& outcome, const lang::value& partial) {
    return results.make_details({{"subtaskRequest", asked},
                                 {"subtaskError", outcome.failure},
                                 {"nestingDepth", lang::value::integer(outcome.depth)},
                                 {"partialOutput", partial}});
}

coro::task<result<lang::value>> run_tool(task_runner& runner,
                                         std::shared_ptr<const registered_tool> one,
                                         host::effect_call call) {
    lang::scope_ref scope = call.scope;
    const source_span span = call.request.span;
    const coro::call_context context = call.context;
    const bool finds_out = one->declared.body || one->declared.heeds_memory;
    if (context.step && !finds_out && !context.step->may_ask()) {
        error stop = co_await context.step->refused(context);
        co_return stop;
    }
    result<lang::value> ended = co_await call_tool(std::move(one), std::move(call));
    if (!ended) co_return ended;
    const lang::value* found = continuation_of(*ended);
    if (!found) co_return ended;
    lang::value asked = *found;
    result<subtask_outcome> outcome =
        co_await run_subtask(runner, asked, nullptr, std::move(scope), span, context);
    if (!outcome) co_return std::move(outcome).error();
    if (!outcome->failed) co_return outcome->result;
    auto payload = std::make_shared<lang::script_payload>();
    payload->reason = to_string(task_failure_reason::subtask_failure);
    payload->data =
        subtask_details(runner.results(), asked, *outcome, partial_output(*ended, *outcome));
    co_return error(lang::errc::task, "Subtask execution failed: " + outcome->message)
        .with_payload(std::move(payload))
        .with_span(span);
}

} // namespace heddle::tasks
