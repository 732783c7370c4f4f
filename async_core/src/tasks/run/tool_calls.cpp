#include "tasks/run/tool_calls.hpp"

#include "tasks/output/in_turns.hpp"
#include "tasks/output/message_json.hpp"
#include "tasks/run/clause_call.hpp"
#include "tasks/run/kept_end.hpp"
#include "tasks/run/kept_tool.hpp"
#include "tasks/run/part_digest.hpp"
#include "tasks/run/step_parts.hpp"
#include "tasks/run/subtasks.hpp"
#include "tasks/run/task_runner.hpp"
#include "tasks/run/turn_places.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/coro/nursery.hpp>
#include <heddle/host/side_call.hpp>
#include <heddle/lang/call_site.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_calls_per_turn = 64;
constexpr std::size_t max_arguments_bytes = 16 * 1024 * 1024;
constexpr std::size_t max_arguments_depth = 128;

/// Cuts without splitting a character, and notes it.
[[nodiscard]] std::string capped(std::string text, std::size_t most) {
    if (text.size() <= most) return text;
    const std::size_t left_out = text.size() - utf8::prefix_size(text, most);
    utf8::shorten(text, most);
    return text + "\n[cut here: " + std::to_string(left_out) + " bytes were left out]";
}

/// What a model receives for a value.
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

/// The workflow's, not the tool's: cancellation, the end of an extent, a sandbox.
[[nodiscard]] bool ends_the_task(const error& failure) noexcept {
    return lang::passes_catches(failure) || failure.code() == lang::errc::limit;
}

/// The request of a subtask tool; `hint`: of the tool, empty for one of any kind.
[[nodiscard]] lang::value subtask_of(lang::heap& memory, lang::value inputs,
                                     const std::string& hint) {
    if (hint.empty()) return inputs;
    const lang::value one = lang::make_string(memory, hint);
    inputs = lang::map_put(memory, std::move(inputs), "type", lang::make_string(memory, "atomic"));
    return lang::map_put(memory, std::move(inputs), "template_hints",
                         lang::make_list(memory, std::span(&one, 1)));
}

/// The calls of one turn. Lives while they run.
class turn_run {
public:
    turn_run(task_runner& runner, tool_turns& turn, const task_call& of, const task_chain& chain,
             const task_time& time)
        : runner_(runner), turn_(turn), of_(of), chain_(chain), time_(time) {}

    /// Runs the only call and writes its result. Errors: of the workflow.
    [[nodiscard]] coro::task<result<void>> run_alone(coro::call_context context) {
        return run(turn_.calls().front(), of_.scope, context);
    }
    /// The same of one of several, which count among the branches and the parts of the step.
    [[nodiscard]] coro::task<result<void>> run_beside_others(std::size_t index, step_parts* parts,
                                                             turn_places* places,
                                                             coro::call_context context);

private:
    /// Begins in the turn of a place, in a durable step.
    [[nodiscard]] coro::task<result<void>> take_place(turn_places::place& own,
                                                      const called_tool& called,
                                                      coro::call_context context);
    [[nodiscard]] coro::task<result<void>> run(called_tool& called, const lang::scope_ref& scope,
                                               coro::call_context context);
    /// Value or error of what a model called. Errors: the tool's and the workflow's.
    [[nodiscard]] coro::task<result<lang::value>> call(const called_tool& called,
                                                       const lang::scope_ref& scope,
                                                       coro::call_context context);
    [[nodiscard]] result<task_call> bind_task(const offered_tool& offered,
                                              const lang::value& inputs,
                                              const lang::scope_ref& scope,
                                              coro::call_context context);
    void write(called_tool& called, const lang::value& ended);

    task_runner& runner_;
    tool_turns& turn_;
    const task_call& of_;
    const task_chain& chain_;
    const task_time& time_;
};

coro::task<result<void>> turn_run::run_beside_others(std::size_t index, step_parts* parts,
                                                     turn_places* places,
                                                     coro::call_context context) {
    step_parts::part part(*parts, index);
    context = part.open(context);
    turn_places::place own(*places);
    result<void> begun = co_await take_place(own, turn_.calls()[index], context);
    if (!begun) co_return begun;
    host::side_call place(runner_.session(), of_.scope);
    begun = co_await place.begin(context);
    if (!begun) co_return begun;
    const result<void> ran = co_await run(turn_.calls()[index], place.scope(), context);
    if (!ran) co_return ran;
    const result<void> left = co_await place.end(context);
    co_return left;
}

coro::task<result<void>> turn_run::take_place(turn_places::place& own, const called_tool& called,
                                              coro::call_context context) {
    if (!own.must_wait()) {
        result<void> begun = co_await own.begin(context);
        co_return begun;
    }
    kept_end wait(runner_.session().memory(), time_, context,
                  part_digest::of("end of time in front of a place"), called.asked.name);
    std::optional<error> ended = co_await wait.recorded();
    if (ended) co_return *std::move(ended);
    result<void> begun = co_await own.begin(context);
    if (!begun) co_await wait.keep(begun.error());
    co_return begun;
}

coro::task<result<void>> turn_run::run(called_tool& called, const lang::scope_ref& scope,
                                       coro::call_context context) {
    const coro::event_loop& loop = runner_.session().engine().loop();
    const auto began = loop.now();
    result<lang::value> ended = co_await call(called, scope, context);
    called.took = loop.now() - began;
    if (ended) {
        write(called, *ended);
        co_return result<void>();
    }
    if (ends_the_task(ended.error())) co_return std::move(ended).error();
    called.failed = true;
    called.text = capped(message_with_hint(ended.error()), runner_.parts().tool_result_limit);
    co_return result<void>();
}

void turn_run::write(called_tool& called, const lang::value& ended) {
    const std::size_t most = runner_.parts().tool_result_limit;
    called.failed = is_failed_result(ended);
    if (called.failed) {
        called.text = capped(task_error_of(ended).message(), most);
    } else if (called.offered->what == offered_tool::kind::tool) {
        // Of a result of a task the model receives the value, of one of a program the exit code
        // too.
        const bool of_program = is_task_result(ended) && !names_a_task(ended);
        auto plain = of_program ? result<lang::value>(ended)
                                : without_results(runner_.session().memory(), ended);
        called.failed = !plain;
        called.text = plain ? text_of(*plain, most) : capped(plain.error().message(), most);
    } else {
        const lang::value* content = lang::map_find(ended, "content");
        called.text = text_of(content ? *content : ended, most);
    }
}

coro::task<result<lang::value>> turn_run::call(const called_tool& called,
                                               const lang::scope_ref& scope,
                                               coro::call_context context) {
    const offered_tool* offered = called.offered;
    if (!offered) {
        co_return error(lang::errc::evaluation,
                        "there is no tool '" + utf8::shortened(called.asked.name, 100) + "'")
            .with_hint(turn_.offered_names());
    }
    if (offered->what != offered_tool::kind::subtask) {
        // What it does not allow is a result for the model; a used-up limit ends the sandbox.
        if (auto stop = lang::refused_by_sandbox(scope, offered->name)) co_return *std::move(stop);
    }
    host::session& session = runner_.session();
    const std::string& text = called.asked.arguments_json;
    if (text.size() > max_arguments_bytes) {
        co_return error(lang::errc::evaluation, "the arguments are too long");
    }
    result<lang::value> inputs = lang::value::empty_map();
    lang::metered_work read = [&](lang::work_meter& work) {
        lang::json_read_options options;
        options.max_depth = max_arguments_depth;
        options.work = &work;
        if (!text.empty()) inputs = lang::json_to_value(session.memory(), text, options);
    };
    if (!lang::done_in_a_turn(read)) {
        result<void> done = co_await run_in_turns(session, std::move(read), context);
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
        host::effect_call call =
            clause_call(session, offered->callable, *inputs, scope, of_.span, context);
        result<lang::value> ended =
            co_await run_kept_tool(&runner_, tool, &called.asked, &time_, std::move(call));
        co_return ended;
    }
    if (offered->what == offered_tool::kind::task) {
        auto bound = bind_task(*offered, *inputs, scope, context);
        if (!bound) co_return std::move(bound).error();
        result<lang::value> ended = co_await runner_.run(*std::move(bound));
        co_return ended;
    }
    lang::value asked = subtask_of(session.memory(), *std::move(inputs), offered->hint);
    result<subtask_outcome> outcome =
        co_await run_subtask(runner_, std::move(asked), &chain_, scope, of_.span, context);
    if (!outcome) co_return std::move(outcome).error();
    if (outcome->failed)
        co_return task_failed(task_failure_reason::subtask_failure, outcome->message);
    co_return outcome->result;
}

result<task_call> turn_run::bind_task(const offered_tool& offered, const lang::value& inputs,
                                      const lang::scope_ref& scope, coro::call_context context) {
    host::session& session = runner_.session();
    HEDDLE_TRY(task_call bound,
               bind_call(session.memory(), lang::host_as<task_callable>(offered.callable)->task(),
                         clause_call(session, offered.callable, inputs, scope, of_.span, context)));
    bound.chain = &chain_;
    if (chain_.depth_left <= 0 || chain_.has(bound)) {
        return task_failed(task_failure_reason::execution_halted,
                           "tasks call each other in a circle, or too deep");
    }
    return bound;
}

} // namespace

coro::task<result<void>> run_tool_calls(task_runner& runner, tool_turns& turn, const task_call& of,
                                        const task_chain& chain, const task_time& time) {
    std::vector<called_tool>& calls = turn.calls();
    for (std::size_t i = max_calls_per_turn; i < calls.size(); ++i) {
        calls[i].text =
            "not run: a turn may call " + std::to_string(max_calls_per_turn) + " tools at most";
        calls[i].failed = true;
    }
    const coro::call_context& context = time.context();
    turn_run running(runner, turn, of, chain, time);
    const std::size_t count = std::min(calls.size(), max_calls_per_turn);
    if (count == 1) {
        const result<void> ended = co_await running.run_alone(context);
        co_return ended;
    }
    step_parts parts(context.step, count);
    turn_places places(context.step, lang::branch_bound(of.scope));
    coro::nursery side_by_side(context);
    for (std::size_t i = 0; i < count; ++i) {
        side_by_side.start(
            [&] { return running.run_beside_others(i, &parts, &places, side_by_side.context()); });
    }
    result<void> ended = co_await side_by_side.join();
    co_return ended;
}

} // namespace heddle::tasks
