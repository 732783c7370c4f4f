// Tools that a model calls, and subtasks.
#include "tasks/output/in_turns.hpp"
#include "tasks/output/message_json.hpp"
#include "tasks/run/task_execution.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_error.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>
#include <set>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_calls_per_turn = 64;
constexpr std::size_t max_noted_calls = 1000;
constexpr std::size_t max_arguments_bytes = 16 * 1024 * 1024;
constexpr std::size_t max_arguments_depth = 128;

/// Cuts without splitting a character, and says so.
[[nodiscard]] std::string capped(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    const std::size_t left_out = text.size() - utf8::prefix_size(text, most);
    utf8::shorten(text, most);
    return text + "\n[cut here: " + std::to_string(left_out) + " bytes were left out]";
}

/// What a model is told of a value.
[[nodiscard]] std::string text_of(const lang::value& v, std::size_t most) {
    if (v.is(lang::kind::string)) return capped(std::string(lang::string_bytes(v)), most);
    if (auto json = message_json(v)) return capped(*std::move(json), most);
    lang::print_options options;
    options.max_bytes = most;
    return lang::print_value(v, options);
}

[[nodiscard]] bool names_a_task(const lang::value& result) noexcept {
    const lang::value* notes = lang::map_find(result, "notes");
    return notes && notes->is(lang::kind::map) && lang::map_find(*notes, "template_used");
}

[[nodiscard]] std::string told(const error& failure) {
    std::string said = failure.message();
    if (!failure.info().hint.empty()) said += " (" + failure.info().hint + ")";
    return said;
}

/// The workflow's, not the tool's: cancellation, the end of an extent, a sandbox.
[[nodiscard]] bool ends_the_task(const error& failure) noexcept {
    return lang::passes_catches(failure) || failure.code() == lang::errc::limit;
}

[[nodiscard]] host::effect_call clauses_of(host::session& owner, const lang::value& callee,
                                           const lang::value& inputs, const task_call& of,
                                           coro::call_context context) {
    lang::heap& memory = owner.memory();
    host::effect_call call{owner, {}, of.scope, context};
    call.request.callee = callee;
    call.request.span = of.span;
    lang::value names = lang::value::empty_list();
    for (const lang::map_entry& entry : lang::map_entries(inputs)) {
        names = lang::list_push_back(memory, std::move(names),
                                     memory.symbol(lang::string_bytes(entry.key)));
        call.request.arguments.push_back(entry.item);
    }
    call.request.names = std::move(names);
    return call;
}

/// Ids that were made for calls without one can be those of an earlier turn, and some models give
/// two calls the same; results are distinguished by them.
void make_ids_unique(std::vector<ports::tool_call>& calls,
                     const std::vector<ports::chat_message>& messages) {
    std::set<std::string> taken;
    for (const ports::chat_message& each : messages) taken.insert(each.tool_call_id);
    std::set<std::string> given = taken;
    for (const ports::tool_call& each : calls) given.insert(each.id);
    for (ports::tool_call& each : calls) {
        if (each.id.empty() || taken.insert(each.id).second) continue;
        std::string text;
        for (int n = 2; text.empty() || !given.insert(text).second; ++n) {
            text = each.id + "_" + std::to_string(n);
        }
        each.id = std::move(text);
    }
}

} // namespace

std::string task_execution::offered_names() const {
    std::string all;
    for (const offered_tool& each : offered_) all += (all.empty() ? "" : ", ") + each.wire_name;
    return all.empty() ? "there are no tools" : "the tools: " + all;
}

/// The tool that must be called, by the name that the model knows it by.
void task_execution::choose_tool() {
    std::string& choice = request_.tool_choice;
    if (offered_.empty()) choice.clear();
    if (choice.empty() || choice == "auto" || choice == "none" || choice == "required") return;
    const auto found = std::find_if(offered_.begin(), offered_.end(), [&](const offered_tool& one) {
        return one.wire_name == choice || one.name == choice;
    });
    if (found != offered_.end()) {
        choice = found->wire_name;
        return;
    }
    warnings_.push_back("tool-choice '" + utf8::shortened(choice, 100) +
                        "' has no effect: " + offered_names());
    choice.clear();
}

/// The limit of the output cut off a call: there is nothing to run, and asking again with the same
/// limit would end the same way.
result<lang::value> task_execution::exhaust_call(const ports::chat_response& answer) {
    exhausted_resource what;
    what.resource = "output";
    what.used = answer.usage ? static_cast<double>(answer.usage->output) : 0;
    what.limit = static_cast<double>(request_.max_output_tokens.value_or(0));
    what.message = "the response reached the limit of its output inside a call of the tool '" +
                   answer.cut_tool_call + "'; raise max-tokens";
    return exhaust(what, answer.text.empty() ? last_said() : std::string_view(answer.text));
}

std::optional<result<lang::value>> task_execution::take_tool_calls(ports::chat_response answer) {
    if (offered_.empty()) {
        const std::string what = "the model called the tool '" +
                                 utf8::shortened(answer.tool_calls.front().name, 100) +
                                 "', which it was not offered";
        // What it wrote beside the call is no answer: it waits for the tool.
        return fail(ending(answer.text.empty() ? what : answer.text), {"llm_error", what, {}});
    }
    make_ids_unique(answer.tool_calls, request_.messages);
    for (ports::tool_call& each : answer.tool_calls) {
        called_tool& called = turn_.emplace_back();
        const auto found =
            std::find_if(offered_.begin(), offered_.end(), [&](const offered_tool& one) {
                return one.wire_name == each.name || one.name == each.name;
            });
        if (found != offered_.end()) called.offered = &*found;
        called.asked = each;
    }
    request_.messages.resize(settled_messages_);
    ports::chat_message& said = request_.messages.emplace_back();
    said.role = ports::chat_role::assistant;
    said.text = std::move(answer.text);
    said.tool_calls = std::move(answer.tool_calls);
    said.reasoning = std::move(answer.reasoning);
    said.written_by = answer.provider.empty() ? std::string(provider_name()) : answer.provider;
    return std::nullopt;
}

void task_execution::answer_tools() {
    lang::heap& memory = runner_.owner().memory();
    if (tool_notes_.is_nil()) tool_notes_ = lang::value::empty_list();
    for (called_tool& each : turn_) {
        ports::chat_message& told = request_.messages.emplace_back();
        told.role = ports::chat_role::tool;
        told.text = std::move(each.answer);
        told.tool_call_id = std::move(each.asked.id);
        told.tool_name = each.asked.name;
        told.tool_failed = each.failed;
        if (tool_notes_.length() >= max_noted_calls) continue;
        const std::string_view name = each.offered ? std::string_view(each.offered->name)
                                                   : utf8::prefix(each.asked.name, 200);
        const std::chrono::duration<double, std::milli> took = each.took;
        tool_notes_ = lang::list_push_back(
            memory, std::move(tool_notes_),
            runner_.results().make_details({{"name", lang::make_string(memory, name)},
                                            {"ok", lang::value::boolean(!each.failed)},
                                            {"ms", lang::value::real(took.count())}}));
    }
    turn_.clear();
    settled_messages_ = request_.messages.size();
    // A choice that forces a call is for the first turn: the model would never come to an answer.
    if (request_.tool_choice != "none") request_.tool_choice.clear();
}

coro::task<result<void>> task_runner::run_tools(task_execution& execution) {
    for (std::size_t i = max_calls_per_turn; i < execution.turn().size(); ++i) {
        execution.turn()[i].answer =
            "not run: a turn may call " + std::to_string(max_calls_per_turn) + " tools at most";
        execution.turn()[i].failed = true;
    }
    coro::nursery side_by_side(execution.context());
    const std::size_t count = std::min(execution.turn().size(), max_calls_per_turn);
    for (std::size_t i = 0; i < count; ++i) {
        side_by_side.start([&] { return run_offered(execution, i, side_by_side.context()); });
    }
    result<void> ended = co_await side_by_side.join();
    if (ended) execution.answer_tools();
    co_return ended;
}

coro::task<result<void>> task_runner::run_offered(task_execution& execution, std::size_t index,
                                                  coro::call_context context) {
    const auto began = owner_.owner().loop().now();
    result<lang::value> ended = co_await call_offered(execution, index, context);
    called_tool& called = execution.turn()[index];
    called.took = owner_.owner().loop().now() - began;
    if (!ended) {
        if (ends_the_task(ended.error())) co_return std::move(ended).error();
        called.failed = true;
        called.answer = capped(told(ended.error()), parts_.tool_result_limit);
        co_return result<void>();
    }
    called.failed = is_failed_result(*ended);
    if (called.failed) {
        called.answer = capped(task_error_of(*ended).message(), parts_.tool_result_limit);
    } else if (called.offered->what == offered_tool::kind::tool) {
        // A result of a task is told by its value, one of a program with its exit code.
        const bool of_program = is_task_result(*ended) && !names_a_task(*ended);
        auto plain =
            of_program ? result<lang::value>(*ended) : without_results(owner_.memory(), *ended);
        called.failed = !plain;
        called.answer = plain ? text_of(*plain, parts_.tool_result_limit)
                              : capped(plain.error().message(), parts_.tool_result_limit);
    } else {
        const lang::value* content = lang::map_find(*ended, "content");
        called.answer = text_of(content ? *content : *ended, parts_.tool_result_limit);
    }
    co_return result<void>();
}

coro::task<result<lang::value>> task_runner::call_offered(task_execution& execution,
                                                          std::size_t index,
                                                          coro::call_context context) {
    const called_tool& called = execution.turn()[index];
    const offered_tool* offered = called.offered;
    if (!offered) {
        co_return error(lang::errc::evaluation,
                        "there is no tool '" + utf8::shortened(called.asked.name, 100) + "'")
            .with_hint(execution.offered_names());
    }
    if (offered->what != offered_tool::kind::subtask) {
        // What it does not allow is told to the model; a used-up limit ends the sandbox.
        if (auto stop = lang::refused_by_sandbox(execution.call().scope, offered->name))
            co_return *std::move(stop);
    }
    const std::string& text = called.asked.arguments_json;
    if (text.size() > max_arguments_bytes) {
        co_return error(lang::errc::evaluation, "the arguments are too long");
    }
    result<lang::value> inputs = lang::value::empty_map();
    lang::metered_work read = [&](lang::work_meter& work) {
        lang::json_read_options options;
        options.max_depth = max_arguments_depth;
        options.work = &work;
        if (!text.empty()) inputs = lang::json_to_value(owner_.memory(), text, options);
    };
    if (!lang::done_in_a_turn(read)) {
        result<void> done = co_await run_in_turns(owner_, std::move(read), context);
        if (!done) co_return std::move(done).error();
    }
    if (!inputs) {
        co_return error(lang::errc::evaluation,
                        "the arguments are not JSON: " + inputs.error().message());
    }
    if (!inputs->is(lang::kind::map)) {
        co_return error(lang::errc::evaluation, "the arguments must be a JSON object");
    }
    if (offered->what == offered_tool::kind::tool) {
        const auto tool = lang::host_as<tool_callable>(offered->callable)->get();
        result<lang::value> ended = co_await run_tool(
            tool, clauses_of(owner_, offered->callable, *inputs, execution.call(), context));
        co_return ended;
    }
    if (offered->what == offered_tool::kind::task) {
        const auto task = lang::host_as<task_callable>(offered->callable)->task();
        auto bound =
            bind_call(owner_.memory(), task,
                      clauses_of(owner_, offered->callable, *inputs, execution.call(), context));
        if (!bound) co_return std::move(bound).error();
        bound->chain = &execution.chain();
        if (execution.chain().depth_left <= 0 || execution.chain().has(*bound)) {
            co_return task_failed(task_failure_reason::execution_halted,
                                  "tasks call each other in a circle, or too deep");
        }
        result<lang::value> ended = co_await run(std::move(*bound));
        co_return ended;
    }
    lang::value asked = *std::move(inputs);
    if (!offered->hint.empty()) {
        lang::heap& memory = owner_.memory();
        const lang::value hint = lang::make_string(memory, offered->hint);
        asked =
            lang::map_put(memory, std::move(asked), "type", lang::make_string(memory, "atomic"));
        asked = lang::map_put(memory, std::move(asked), "template_hints",
                              lang::make_list(memory, std::span(&hint, 1)));
    }
    result<subtask_outcome> outcome =
        co_await run_subtask(std::move(asked), &execution.chain(), execution.call().scope,
                             execution.call().span, context);
    if (!outcome) co_return std::move(outcome).error();
    if (outcome->failed)
        co_return task_failed(task_failure_reason::subtask_failure, outcome->message);
    co_return outcome->result;
}

// ---------------------------------------------------------------- subtasks

coro::task<result<subtask_outcome>> task_runner::run_subtask(lang::value asked,
                                                             const task_chain* chain,
                                                             lang::scope_ref scope,
                                                             source_span span,
                                                             coro::call_context context) {
    subtask_outcome outcome;
    outcome.depth = chain ? chain->nesting() + 1 : 1;
    auto call = bind_subtask(asked, chain, std::move(scope), span, context);
    if (!call) {
        if (lang::passes_catches(call.error())) co_return std::move(call).error();
        outcome.failed = true;
        outcome.message = told(call.error());
        outcome.failure = to_value(owner_.memory(), task_error_from(call.error()));
        co_return outcome;
    }
    result<lang::value> ended = co_await run(*std::move(call));
    if (!ended) {
        if (lang::passes_catches(ended.error())) co_return std::move(ended).error();
        outcome.failed = true;
        outcome.message = told(ended.error());
        outcome.failure = to_value(owner_.memory(), task_error_from(ended.error()));
        co_return outcome;
    }
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

result<task_call> task_runner::bind_subtask(const lang::value& asked, const task_chain* chain,
                                            lang::scope_ref scope, source_span span,
                                            coro::call_context context) {
    HEDDLE_TRY(const subtask_request wanted, read_subtask_request(asked));
    HEDDLE_TRY(const registered_task* found, choose_template(tasks_, wanted));
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
    task_call of;
    of.scope = std::move(scope);
    of.span = span;
    lang::value inputs = wanted.inputs;
    host::effect_call call = clauses_of(owner_, found->callable, inputs, of, context);
    HEDDLE_CHECK(add_overrides(call.request, *found->task, wanted));
    HEDDLE_TRY(task_call bound, bind_call(owner_.memory(), found->task, std::move(call)));
    bound.chain = chain;
    bound.max_depth = wanted.max_depth;
    if (!wanted.subtype.empty()) bound.subtype = wanted.subtype;
    if (chain && chain->has(bound)) {
        return task_failed(task_failure_reason::execution_halted,
                           "the subtask '" + name +
                               "' with the same inputs waits in the chain "
                               "already");
    }
    return bound;
}

/// Context settings and files of a request, as the reserved clauses of a call.
result<void> task_runner::add_overrides(lang::effect_request& request, const compiled_task& task,
                                        const subtask_request& wanted) {
    lang::heap& memory = owner_.memory();
    const auto add = [&](std::string_view clause, const lang::value& item) -> result<void> {
        if (item.is_nil()) return {};
        const auto& inputs = task.input_names;
        if (std::find(inputs.begin(), inputs.end(), clause) != inputs.end()) {
            return task_failed(task_failure_reason::input_validation_failure,
                               "subtask_request: the template has an input '" +
                                   std::string(clause) + "', which hides the setting");
        }
        request.names =
            lang::list_push_back(memory, std::move(request.names), memory.symbol(clause));
        request.arguments.push_back(item);
        return {};
    };
    HEDDLE_CHECK(add("context", wanted.context));
    return add("file_paths", wanted.file_paths);
}

namespace {

[[nodiscard]] lang::value content_in(const lang::value& result) {
    const lang::value* content =
        result.is(lang::kind::map) ? lang::map_find(result, "content") : nullptr;
    const bool text = content && content->is(lang::kind::string) && content->length() != 0;
    return text ? *content : lang::value();
}

/// What there was when a subtask failed: of the subtask, where its model had said something, else
/// of the task that asked for it. Nil when both had nothing. The text of an error is no output.
[[nodiscard]] lang::value partial_output(const lang::value& continued,
                                         const subtask_outcome& outcome) {
    const lang::value* told =
        outcome.failure.is(lang::kind::map) ? lang::map_find(outcome.failure, "message") : nullptr;
    const lang::value said = content_in(outcome.result);
    const bool is_error = told && told->is(lang::kind::string) && said.is(lang::kind::string) &&
                          lang::string_bytes(said) == lang::string_bytes(*told);
    if (!said.is_nil() && !is_error) return said;
    const lang::value* parsed =
        continued.is(lang::kind::map) ? lang::map_find(continued, "parsedContent") : nullptr;
    // A model asks with a TaskResult as its JSON: what it has so far is the content in there.
    return content_in(parsed ? *parsed : continued);
}

} // namespace

lang::value task_runner::subtask_details(const lang::value& asked, const subtask_outcome& outcome,
                                         lang::value partial) {
    return results_.make_details({{"subtaskRequest", asked},
                                  {"subtaskError", outcome.failure},
                                  {"nestingDepth", lang::value::integer(outcome.depth)},
                                  {"partialOutput", partial}});
}

coro::task<result<lang::value>> task_runner::continue_with(task_execution& execution,
                                                           lang::value continued) {
    const lang::value asked = task_execution::asked_subtask(continued);
    result<subtask_outcome> outcome =
        co_await run_subtask(asked, &execution.chain(), execution.call().scope,
                             execution.call().span, execution.context());
    if (!outcome) {
        const lang::value said = partial_output(continued, {});
        co_return execution.refuse(std::move(outcome).error(),
                                   said.is_nil() ? std::string_view() : lang::string_bytes(said));
    }
    if (!outcome->failed) {
        execution.end_continued(outcome->result);
        co_return outcome->result;
    }
    const lang::value partial = partial_output(continued, *outcome);
    const lang::value details = subtask_details(asked, *outcome, partial);
    co_return execution.fail_subtask(
        partial.is(lang::kind::string) ? lang::string_bytes(partial) : std::string_view(),
        "Subtask execution failed: " + outcome->message, details);
}

coro::task<result<lang::value>> task_runner::run_tool(std::shared_ptr<const registered_tool> one,
                                                      host::effect_call call) {
    lang::scope_ref scope = call.scope;
    const source_span span = call.request.span;
    const coro::call_context context = call.context;
    result<lang::value> ended = co_await call_tool(std::move(one), std::move(call));
    if (!ended) co_return ended;
    const lang::value* found = continuation_of(*ended);
    if (!found) co_return ended;
    lang::value asked = *found;
    result<subtask_outcome> outcome =
        co_await run_subtask(asked, nullptr, std::move(scope), span, context);
    if (!outcome) co_return std::move(outcome).error();
    if (!outcome->failed) co_return outcome->result;
    auto payload = std::make_shared<lang::script_payload>();
    payload->reason = to_string(task_failure_reason::subtask_failure);
    payload->data = subtask_details(asked, *outcome, partial_output(*ended, *outcome));
    co_return error(lang::errc::task, "Subtask execution failed: " + outcome->message)
        .with_payload(std::move(payload))
        .with_span(span);
}

} // namespace heddle::tasks
