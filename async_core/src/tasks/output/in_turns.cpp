#include "tasks/output/in_turns.hpp"

#include <heddle/coro/wait_point.hpp>

#include <utility>

namespace heddle::tasks {

// `session` by reference: it outlives every call of a task.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
coro::task<result<void>> run_in_turns(host::session& session, lang::metered_work work,
                                      coro::call_context context, std::size_t stack_bytes) {
    lang::host_job job(session.realm(), stack_bytes, std::move(work));
    while (!job.resume()) {
        co_await coro::yield_now(*context.loop);
        if (auto stop = context.stop_error()) co_return *std::move(stop);
    }
    co_return result<void>();
}

} // namespace heddle::tasks
