#include "task_runner.hpp"

namespace heddle::tasks {

coro::task<result<lang::value>> task_runner::run(task_call call) {
    task_execution execution(*this, std::move(call));
    if (auto ready = execution.prepare(); !ready) co_return std::move(ready).error();
    for (;;) {
        result<ports::chat_response> answer =
            co_await execution.provider().complete(execution.request(), execution.context());
        std::optional<result<lang::value>> ended = execution.accept(std::move(answer));
        if (ended) co_return *std::move(ended);
    }
}

void task_runner::warn_once(const std::string& message) {
    log_port& log = owner_.owner().log();
    if (!log.enabled(log_level::warn) || !warned_.insert(message).second) return;
    log.write(log_level::warn, "tasks", message);
}

} // namespace heddle::tasks
