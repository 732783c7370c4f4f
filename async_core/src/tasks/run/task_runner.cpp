#include "tasks/run/task_runner.hpp"

#include "tasks/output/in_turns.hpp"
#include "tasks/run/task_execution.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/sandbox_policy.hpp>

namespace heddle::tasks {

namespace {

/// One call inside a prompt; its content goes to `out`.
coro::task<result<void>> run_prompt_call(task_runner* runner, task_call call, std::string written,
                                         lang::value* out) {
    const source_span span = call.span;
    result<lang::value> ended = co_await runner->run(std::move(call));
    if (!ended) {
        co_return std::move(ended).error().with_trace("in the prompt call {{" + written + "}}",
                                                      span);
    }
    auto content = content_of_result(*ended);
    if (!content) {
        co_return std::move(content).error().with_span(span).with_trace(
            "in the prompt call {{" + written + "}}", span);
    }
    *out = *std::move(content);
    co_return result<void>();
}

} // namespace

// The steps of docs/spec/runtime.md §4. Any wait other than for the model is a separate coroutine,
// started only when a task needs it: a plain call has this frame and the provider's.
coro::task<result<lang::value>> task_runner::run(task_call call) {
    task_execution execution(*this, std::move(call));
    if (auto begun = execution.begin(); !begun) co_return std::move(begun).error();
    if (execution.waits_for_preparation()) {
        std::optional<result<lang::value>> ended = co_await prepare(execution);
        if (ended) co_return *std::move(ended);
    }
    if (auto ready = execution.make_request(); !ready) co_return std::move(ready).error();
    if (execution.executor()) {
        result<lang::value> ended = co_await run_elsewhere(execution);
        co_return ended;
    }
    for (;;) {
        std::optional<result<lang::value>> ended = execution.check_limits();
        if (ended) co_return *std::move(ended);
        let_stream_go(execution.call().scope); // before waiting for what it holds of a budget
        if (execution.spends() && !execution.looks_first()) {
            result<std::optional<spent_budget>> reserved = co_await execution.reserve();
            if (!reserved) co_return execution.refuse(std::move(reserved).error());
            if (*reserved) ended = execution.refuse_unless_kept(**std::move(reserved));
            if (ended) co_return *std::move(ended);
        }
        coro::task<result<ports::chat_response>> asked =
            execution.streams()
                ? stream_answer(execution)
                : execution.provider().complete(execution.request(), execution.context());
        result<ports::chat_response> answer = co_await std::move(asked);
        if (auto failed = execution.take_receiver_failure()) {
            co_return execution.abandon(answer, *std::move(failed));
        }
        if (execution.found_nothing(answer)) continue;
        ended = execution.end_of_seeking(answer);
        if (ended) co_return *std::move(ended);
        ended = execution.accept(std::move(answer));
        if (execution.waits_for_check()) {
            std::optional<result<lang::value>> checked = co_await check_answer(execution);
            ended = std::move(checked);
        }
        if (ended && !execution.continues(*ended)) co_return *std::move(ended);
        if (ended) {
            result<lang::value> continued = co_await continue_with(execution, **ended);
            co_return continued;
        }
        if (execution.calls_tools()) {
            result<void> ran = co_await run_tools(execution);
            if (!ran) co_return execution.refuse(std::move(ran).error());
        }
    }
}

coro::task<std::optional<result<lang::value>>> task_runner::prepare(task_execution& execution) {
    if (execution.has_prompt_calls()) {
        result<void> ran = co_await run_prompt_calls(execution);
        if (!ran) co_return execution.take_step_error(std::move(ran).error(), true);
    }
    if (execution.wants_context()) {
        result<std::shared_ptr<const assembled_context>> outcome =
            co_await parts_.context->prepare(execution.context_wanted());
        if (!outcome) co_return execution.take_step_error(std::move(outcome).error(), false);
        execution.set_context(*std::move(outcome));
    }
    co_return std::nullopt;
}

coro::task<result<void>> task_runner::run_prompt_calls(task_execution& execution) {
    // All are bound before one is sent.
    auto calls = execution.bind_prompt_calls();
    if (!calls) co_return std::move(calls).error();
    std::vector<lang::value> contents(calls->size());
    coro::nursery side_by_side(execution.context());
    for (std::size_t i = 0; i < calls->size(); ++i) {
        task_call& each = (*calls)[i].call;
        each.context = side_by_side.context();
        side_by_side.start([&] {
            return run_prompt_call(this, std::move(each), std::move((*calls)[i].written),
                                   &contents[i]);
        });
    }
    result<void> ended = co_await side_by_side.join();
    if (!ended) co_return std::move(ended).error();
    co_return execution.fill_prompt(contents);
}

coro::task<result<lang::value>> task_runner::run_elsewhere(task_execution& execution) {
    result<executor_answer> done =
        co_await execution.executor()->execute(execution.executor_wanted());
    std::optional<result<lang::value>> ended = execution.accept_elsewhere(std::move(done));
    if (execution.waits_for_check()) {
        std::optional<result<lang::value>> checked = co_await check_answer(execution);
        ended = std::move(checked);
    }
    if (!execution.continues(*ended)) co_return *std::move(ended);
    result<lang::value> continued = co_await continue_with(execution, **ended);
    co_return continued;
}

coro::task<std::optional<result<lang::value>>> task_runner::check_answer(
    task_execution& execution) {
    lang::metered_work work = [&execution](lang::work_meter& meter) { execution.check(meter); };
    result<void> checked = co_await run_in_turns(owner_, std::move(work), execution.context());
    if (!checked) co_return execution.refuse_unchecked(std::move(checked).error());
    co_return execution.end_check();
}

namespace {

[[nodiscard]] const std::shared_ptr<conversation>& said_in(
    lang::realm& realm, std::unique_ptr<lang::extent_ledger>& ledger) {
    if (!ledger) ledger = std::make_unique<extent_conversation>(realm);
    return static_cast<const extent_conversation&>(*ledger).said;
}

} // namespace

std::shared_ptr<conversation> task_runner::conversation_of(const task_call& call,
                                                           const call_settings& settings) {
    // Tools that are written in the language run beside the workflow, in a scope that says so.
    if (settings.no_conversation || !call.place || call.chain || call.scope->call_depth != 0) {
        return nullptr;
    }
    // A sandbox has conversations of its own: nothing said outside is told inside, and the reverse.
    conversation_root root;
    const auto* sandbox = call.scope->sandbox.get();
    if (sandbox) root.sandbox = sandbox->own().as_value();
    if (settings.conversation) {
        root.said = said_in(owner_.realm(), settings.conversation->ledger);
        root.opened = settings.conversation->opened();
    } else if (sandbox) {
        root.said = said_in(owner_.realm(), sandbox->own()->ledger);
    } else {
        root.said = said_;
    }
    return conversation_at(owner_.realm(), root, *call.place);
}

void task_runner::warn_once(const std::string& message) {
    log_port& log = owner_.owner().log();
    constexpr std::size_t max_warned = 1000; // a file may be missing for each of a million rows
    if (!log.enabled(log_level::warn)) return;
    if (warned_.size() == max_warned) warned_.clear();
    if (!warned_.insert(message).second) return;
    log.write(log_level::warn, "tasks", message);
}

} // namespace heddle::tasks
