#include "tasks/run/task_execution.hpp"

#include "tasks/output/in_turns.hpp"
#include "tasks/run/kept_context.hpp"
#include "tasks/run/kept_executor.hpp"
#include "tasks/run/kept_refusal.hpp"
#include "tasks/run/part_digest.hpp"
#include "tasks/run/prompt_calls.hpp"
#include "tasks/run/step_parts.hpp"
#include "tasks/run/subtasks.hpp"
#include "tasks/run/task_runner.hpp"
#include "tasks/run/tool_calls.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>
#include <utility>

namespace heddle::tasks {

namespace {

/// Why a model returned nothing, in its own words if it had any.
std::string refusal_text(const ports::chat_response& response) {
    std::string said = response.refusal.empty() ? response.text : response.refusal;
    utf8::shorten(said, 500);
    const bool filtered = response.finish == ports::finish_reason::content_filter;
    std::string text = filtered ? "a content filter of the service withheld the response"
                                : "the model refused to answer";
    if (said.empty()) return text + (filtered ? "" : " without a reason");
    return said.starts_with(text) ? said : text + ": " + said;
}

/// A response that cannot be used, whatever is asked again.
task_failure llm_failure(std::string message) {
    return {std::string(to_string(task_failure_reason::llm_error)), std::move(message), {}};
}

/// The limit of the output cut off a call: there is nothing to run, and asking again with the same
/// limit would end the same way.
exhausted_resource cut_call(const ports::chat_response& response,
                            const ports::chat_request& request) {
    exhausted_resource what;
    what.resource = "output";
    what.used = response.usage ? static_cast<double>(response.usage->output) : 0;
    what.limit = static_cast<double>(request.max_output_tokens.value_or(0));
    what.message = "the response reached the limit of its output inside a call of the tool '" +
                   response.cut_tool_call + "'; raise max-tokens";
    return what;
}

} // namespace

// Any wait other than for the model is a separate coroutine, started only when a task needs it: a
// plain call has this frame and the provider's.
coro::task<result<lang::value>> task_execution::run(task_runner& runner, task_call call) {
    task_execution execution(runner, std::move(call));
    if (auto begun = execution.begin(); !begun) co_return std::move(begun).error();
    if (execution.call_.context.step) {
        verdict over = co_await execution.check_time("begin");
        if (over) co_return *std::move(over);
    }
    if (execution.waits_for_preparation()) {
        verdict ended = co_await execution.prepare();
        if (ended) co_return *std::move(ended);
    }
    if (auto ready = execution.make_request(); !ready) co_return std::move(ready).error();
    if (execution.choices_.executor()) {
        result<lang::value> ended = co_await execution.run_executor();
        co_return ended;
    }
    for (;;) {
        if (execution.call_.context.step) {
            verdict over = co_await execution.check_time();
            if (over) co_return *std::move(over);
        }
        verdict ended = execution.check_limits();
        if (ended) co_return *std::move(ended);
        if (execution.session_.must_wait()) {
            co_await execution.wait_for_room();
            continue;
        }
        // Before the call waits for what that stream holds of a budget.
        runner.streams().let_go(execution.call_.scope);
        if (execution.model_.must_reserve()) {
            result<std::optional<spent_budget>> reserved = co_await execution.reserve();
            if (!reserved) {
                if (execution.call_.context.step) {
                    kept_end place = execution.end_of_time();
                    co_await place.keep(reserved.error());
                }
                co_return execution.end_.refuse(std::move(reserved).error());
            }
            if (*reserved) *reserved = execution.model_.ask_cache_instead(**std::move(reserved));
            if (*reserved) {
                result<lang::value> refused = co_await execution.end_refused(**std::move(reserved));
                co_return refused;
            }
        }
        ++execution.requests_;
        result<ports::chat_response> response =
            co_await execution.model_.ask(execution.time_.context());
        execution.model_.mark_stopped(response);
        if (auto failed = execution.model_.take_receiver_failure()) {
            co_return execution.end_.abandon(response, *std::move(failed));
        }
        if (execution.model_.starts_again(response)) {
            --execution.requests_; // a repetition does not look in the cache
            continue;
        }
        if (auto over = execution.model_.spent_after(response)) {
            result<lang::value> refused = co_await execution.end_refused(*std::move(over));
            co_return refused;
        }
        ended = execution.accept(std::move(response));
        if (execution.check_.waits()) {
            verdict checked = co_await execution.check_response();
            ended = std::move(checked);
        }
        if (ended && !execution.end_.asks_for_subtask()) co_return *std::move(ended);
        if (ended) {
            result<lang::value> continued = co_await execution.continue_with(**ended);
            co_return continued;
        }
        if (execution.tools_.under_way()) {
            result<void> ran = co_await run_tool_calls(runner, execution.tools_, execution.call_,
                                                       execution.chain_, execution.time_);
            if (!ran) co_return execution.end_.refuse(std::move(ran).error());
            execution.tools_.end(execution.dialog_, execution.report_.notes());
        }
    }
}

task_execution::task_execution(task_runner& runner, task_call&& call)
    : runner_(runner), call_(std::move(call)),
      time_(call_.context, call_.chain ? call_.chain->time : nullptr),
      chain_(task_chain::link(call_, session_, time_, runner.parts().subtask_depth)),
      choices_(call_, runner.parts()), prompt_(call_),
      model_(runner, call_, choices_, time_, session_, dialog_.request()),
      check_(*call_.task, runner.session().memory()),
      report_({call_, chain_, choices_, time_, runner.tasks(), runner.observer(),
               runner.session().memory(), runner.results()}),
      end_(report_, model_, dialog_, history_, time_) {}

// ---------------------------------------------------------------- before the first request

result<void> task_execution::begin() {
    if (auto chosen = choose(); !chosen) return report_.placed(std::move(chosen).error());
    note_unused();
    if (!choices_.executor()) choose_history();
    if (!choices_.executor() && !chain_.outer) model_.open_stream();
    if (ports::step_memory* const step = call_.context.step) time_.set_number(step->begin_task());
    else if (auto stop = time_.context().stop_error()) return *std::move(stop);
    begin_session();
    if (context_preparer* preparer = runner_.parts().context) {
        const bool inherits = chain_.outer && chain_.outer->files;
        wants_context_ = preparer->concerns(call_, inherits);
    }
    return {};
}

result<void> task_execution::choose() {
    HEDDLE_CHECK(prompt_.has_calls() ? prompt_.check()
                                     : prompt_.fill(runner_.parts().base_system, {}));
    if (!choices_.executor()) HEDDLE_CHECK(choices_.choose_model());
    ports::chat_request& request = dialog_.request();
    choices_.set_parameters(request);
    request.scheduling.flow = runner_.flow();
    if (!choices_.executor() && !call_.task->declared.tools.empty()) {
        HEDDLE_CHECK(tools_.offer(*call_.task, runner_.tasks(), runner_.tools(), request.tools));
    }
    if (auto warning = tools_.resolve_choice(request.tool_choice))
        report_.notes().warn(*std::move(warning));
    return {};
}

void task_execution::choose_history() {
    const call_settings& settings = choices_.settings();
    if (history_.begin(choices_.history(), settings.conversation != nullptr))
        history_.join(runner_.conversation_of(call_, settings));
}

void task_execution::begin_session() {
    const std::optional<std::int64_t> window = choices_.window();
    if (call_.task->declared.limits.max_context && !window && !choices_.executor()) {
        warn("max_context has no effect: the window of the model '" + choices_.model() +
             "' is not known");
    }
    session_.begin(choices_.limits(), choices_.retries(), window, choices_.price(),
                   chain_.outer ? chain_.outer->session : nullptr);
    check_.allow_repeats(choices_.executor() ? 0 : choices_.retries()); // else nobody to ask again
    if (!choices_.executor()) model_.begin(call_.context.step && call_.context.step->is_repeated());
    time_.begin(choices_.timeout());
}

/// Reports what a call or template asks for and does not get.
void task_execution::note_unused() {
    if (!runner_.parts().context) {
        const call_overrides* set = call_.overrides.get();
        constexpr std::string_view why = " has no effect: this host prepares no context";
        if (set && !set->files.is_nil()) warn("files" + std::string(why));
        if (call_.task->declared.files) warn("file_paths" + std::string(why));
    }
    const context_management& context = call_.task->declared.context;
    if (context.accumulate_data == true ||
        context.accumulation_format == accumulation::full_output) {
        runner_.warn_once(
            "task " + call_.task->declared.name +
            ": accumulate_data and accumulation_format have no effect; a FAILED result "
            "keeps the last response in its content");
    }
}

void task_execution::warn(std::string what) {
    runner_.warn_once("task " + call_.task->declared.name + ": " + what);
    report_.notes().warn(std::move(what));
}

coro::task<task_execution::verdict> task_execution::prepare() {
    if (prompt_.has_calls()) {
        result<std::vector<lang::value>> contents =
            co_await run_prompt_calls(runner_, call_, chain_, time_.context());
        result<void> filled = contents ? prompt_.fill(runner_.parts().base_system, *contents)
                                       : std::move(contents).error();
        if (!filled) co_return end_.refuse_step(std::move(filled).error(), true);
    }
    if (wants_context_) {
        result<std::shared_ptr<const assembled_context>> outcome = co_await prepare_kept(
            runner_.parts().context, &time_, wanted_context(), prompt_.prompt());
        if (!outcome) co_return end_.refuse_step(std::move(outcome).error(), false);
        chain_.files = *std::move(outcome);
    }
    co_return std::nullopt;
}

context_request task_execution::wanted_context() const {
    context_request wanted;
    wanted.session = &runner_.session();
    wanted.call = &call_;
    wanted.model = choices_.model();
    if (chain_.outer) wanted.inherited = chain_.outer->files;
    if (const auto room = session_.room())
        wanted.room = std::max<std::int64_t>(0, *room - session_.estimate(prompt_.bytes()));
    wanted.context = time_.context();
    return wanted;
}

result<void> task_execution::make_request() {
    if (!call_.context.step) { // else see check_time()
        auto stop = time_.context().stop_error();
        if (stop && !time_.is_over(*stop)) return *std::move(stop);
    }
    if (chain_.files) {
        for (const std::string& each : chain_.files->warnings) warn(each);
    }
    report_.started();
    if (choices_.executor()) return {};
    if (chain_.files) prompt_.add_to_system(chain_.files->text);
    prompt_.add_to_system(call_.task->format_note);
    dialog_.begin(prompt_.take_system());
    if (history_.uses_turns()) {
        const auto turns = history_.turns_that_fit(session_, text_bytes(dialog_.request()),
                                                   prompt_.prompt_bytes());
        report_.set_earlier_turns(turns.size());
        dialog_.add_earlier(turns);
    }
    dialog_.ask(prompt_.take_prompt());
    return {};
}

// ---------------------------------------------------------------- in place of a model

coro::task<result<lang::value>> task_execution::run_executor() {
    if (call_.context.step) {
        verdict over = co_await check_time();
        if (over) co_return *std::move(over);
    }
    executor_request wanted;
    wanted.session = &runner_.session();
    wanted.call = &call_;
    wanted.prompt = prompt_.take_prompt();
    if (wanted.prompt.empty()) wanted.prompt = call_.task->declared.description;
    wanted.system = prompt_.take_system();
    wanted.files = chain_.files;
    wanted.context = time_.context();
    result<executor_response> done =
        co_await execute_kept(choices_.executor(), &time_, std::move(wanted));
    verdict ended = accept(std::move(done));
    if (check_.waits()) {
        verdict checked = co_await check_response();
        ended = std::move(checked);
    }
    if (!end_.asks_for_subtask()) co_return *std::move(ended);
    result<lang::value> continued = co_await continue_with(**ended);
    co_return continued;
}

task_execution::verdict task_execution::accept(result<executor_response> done) {
    if (!done) return end_.refuse(std::move(done).error());
    report_.notes().set_further(std::move(done->notes));
    if (!done->failure_reason.empty()) {
        const task_failure what{std::move(done->failure_reason), std::move(done->failure_message),
                                std::move(done->failure_details)};
        return report_.fail(report_.ending(done->content), what);
    }
    if (!call_.task->declared.output.json) return end_.complete(report_.ending(done->content));
    return take_json(std::move(done->content), false);
}

// ---------------------------------------------------------------- a request

task_execution::verdict task_execution::check_limits() {
    if (!call_.context.step) { // else see check_time()
        // A task with a cache of responses may never wait: its time is looked at here.
        if (auto stop = time_.context().stop_error())
            return end_.take_error(std::move(*stop).with_attempts(0));
    }
    const auto reached =
        session_.check(dialog_.request(), choices_.provider()->max_requests_at_once());
    if (!reached) return std::nullopt;
    return end_.exhaust(*reached);
}

kept_end task_execution::end_of_time(std::string_view where) const {
    part_digest digest("end of time");
    digest.add(call_.task->declared.name);
    digest.add(std::to_string(time_.number()) + ' ' + std::to_string(checked_));
    if (!where.empty()) digest.add(where);
    return {runner_.session().memory(), time_, time_.context(), digest.value(),
            call_.task->declared.name};
}

coro::task<task_execution::verdict> task_execution::check_time(std::string_view where) {
    checked_ = requests_;
    kept_end place = end_of_time(where);
    std::optional<error> ended = co_await place.check();
    if (!ended) co_return std::nullopt;
    const auto* refusal = dynamic_cast<const budget_refusal*>(ended->info().payload.get());
    if (refusal) co_return end_.exhaust(refusal->over);
    co_return end_.take_error(std::move(*ended).with_attempts(0));
}

coro::task<result<std::optional<spent_budget>>> task_execution::reserve() {
    const idle_part idle(call_.context.step); // it may wait for parts that wait for their turn
    result<std::optional<spent_budget>> reserved = co_await model_.reserve(time_.context());
    co_return reserved;
}

coro::task<void> task_execution::wait_for_room() {
    const idle_part idle(call_.context.step); // it may wait for parts that wait for their turn
    task_observer* const observer = runner_.observer();
    if (observer) observer->on_budget_wait(true);
    co_await session_.room_freed(time_.context()); // check_limits() sees why it has ended
    if (observer) observer->on_budget_wait(false);
}

coro::task<result<lang::value>> task_execution::end_refused(spent_budget over) {
    if (call_.context.step) {
        kept_end place = end_of_time();
        co_await place.keep_refusal(over);
    }
    co_return end_.exhaust(over);
}

// ---------------------------------------------------------------- a response

task_execution::verdict task_execution::accept(result<ports::chat_response>&& response) {
    if (!response) return end_.take_error(std::move(response).error());
    end_.count(*response);
    if (!response->refusal.empty() || response->finish == ports::finish_reason::refusal ||
        response->finish == ports::finish_reason::content_filter) {
        const std::string& said = response->refusal.empty() ? response->text : response->refusal;
        return report_.fail(report_.ending(said), llm_failure(refusal_text(*response)));
    }
    report_.notes().add_warnings(response->warnings);
    if (!response->cut_tool_call.empty()) {
        return end_.exhaust(cut_call(*response, dialog_.request()), response->text);
    }
    if (!response->tool_calls.empty()) return take_tool_calls(*std::move(response));
    const bool cut = response->finish == ports::finish_reason::length;
    if (cut) {
        if (const auto reached = session_.check_output())
            return report_.exhaust(*reached, response->text);
        report_.notes().warn("the response stopped at its length limit");
    }
    if (!call_.task->declared.output.json) return end_.complete(report_.ending(response->text));
    return take_json(std::move(response->text), cut);
}

task_execution::verdict task_execution::take_tool_calls(ports::chat_response&& response) {
    if (!tools_.offers_any()) {
        const std::string what = "the model called the tool '" +
                                 utf8::shortened(response.tool_calls.front().name, 100) +
                                 "', which it was not offered";
        // What it wrote beside the call is not a response: it waits for the tool.
        return report_.fail(report_.ending(response.text.empty() ? what : response.text),
                            llm_failure(what));
    }
    tools_.begin(response.tool_calls, dialog_.request().messages);
    dialog_.add_calls(std::move(response), choices_.provider_name());
    return std::nullopt;
}

task_execution::verdict task_execution::take_json(std::string text, bool cut) {
    check_.begin(std::move(text), cut);
    if (check_.waits()) return std::nullopt;
    return end_check();
}

coro::task<task_execution::verdict> task_execution::check_response() {
    lang::metered_work work = [this](lang::work_meter& meter) { check_.run(meter); };
    std::optional<kept_end> place;
    if (call_.context.step) place.emplace(end_of_time("check"));
    if (place) {
        std::optional<error> ended = co_await place->recorded();
        if (ended) co_return end_.refuse(*std::move(ended), check_.give_up());
    }
    result<void> checked =
        co_await run_in_turns(runner_.session(), std::move(work), time_.context());
    if (checked) co_return end_check();
    if (place) co_await place->keep(checked.error());
    co_return end_.refuse(std::move(checked).error(), check_.give_up());
}

task_execution::verdict task_execution::end_check() {
    checked_response checked = check_.take();
    if (checked.violation.empty()) {
        if (checked.completed) {
            report_.notes().warn("the JSON of the response was cut short and has been completed");
        }
        task_ending end = report_.ending(checked.text);
        end.parsed = std::move(checked.content);
        end.has_parsed = true;
        return end_.complete(std::move(end));
    }
    if (check_.repeats(checked)) {
        dialog_.ask_again(std::move(checked.text), checked.violation, call_.task->format_note);
        return std::nullopt;
    }
    task_ending end = report_.ending(checked.text);
    end.parse_error = checked.violation;
    if (call_.task->schema.accepts_all()) return end_.complete(std::move(end));
    return report_.fail(std::move(end), check_.failure_of(checked, runner_.results()));
}

/// `continued`: the CONTINUATION.
coro::task<result<lang::value>> task_execution::continue_with(lang::value continued) {
    const lang::value asked = asked_subtask(continued);
    result<subtask_outcome> outcome =
        co_await run_subtask(runner_, asked, &chain_, call_.scope, call_.span, time_.context());
    if (!outcome) {
        const lang::value said = partial_output(continued, {});
        co_return end_.refuse(std::move(outcome).error(),
                              said.is_nil() ? std::string_view() : lang::string_bytes(said));
    }
    if (!outcome->failed) {
        lang::value passed = report_.pass_on(std::move(outcome->result));
        end_.complete_with(passed);
        co_return passed;
    }
    const lang::value partial = partial_output(continued, *outcome);
    const task_failure what{std::string(to_string(task_failure_reason::subtask_failure)),
                            "Subtask execution failed: " + outcome->message,
                            subtask_details(runner_.results(), asked, *outcome, partial)};
    const bool has_output = partial.is(lang::kind::string) && partial.length() != 0;
    co_return report_.fail(
        report_.ending(has_output ? lang::string_bytes(partial) : std::string_view(what.message)),
        what);
}

} // namespace heddle::tasks
