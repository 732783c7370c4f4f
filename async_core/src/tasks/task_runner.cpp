#include "task_runner.hpp"

#include "task_execution.hpp"

namespace heddle::tasks {

// The steps of runtime.md 4. Whatever waits besides the model is a coroutine of its own, begun only
// when a task needs it: a plain call has this frame and the provider's.
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
        result<ports::chat_response> answer =
            co_await execution.provider().complete(execution.request(), execution.context());
        std::optional<result<lang::value>> ended = execution.accept(std::move(answer));
        if (ended) co_return *std::move(ended);
    }
}

coro::task<std::optional<result<lang::value>>> task_runner::prepare(task_execution& execution) {
    if (execution.wants_context()) {
        result<std::shared_ptr<const assembled_context>> made =
            co_await parts_.context->prepare(execution.context_wanted());
        if (!made) co_return execution.take_step_error(std::move(made).error());
        execution.set_context(*std::move(made));
    }
    co_return std::nullopt;
}

coro::task<result<lang::value>> task_runner::run_elsewhere(task_execution& execution) {
    result<executor_answer> done =
        co_await execution.executor()->execute(execution.executor_wanted());
    co_return execution.accept_elsewhere(std::move(done));
}

void task_runner::warn_once(const std::string& message) {
    log_port& log = owner_.owner().log();
    if (!log.enabled(log_level::warn) || !warned_.insert(message).second) return;
    log.write(log_level::warn, "tasks", message);
}

} // namespace heddle::tasks
