// Work on a worker that has a value.
#pragma once

#include <heddle/ports/tree_port.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace heddle::ports {

/// Waits on the loop for what `work` returns on a worker. `workers` outlives the call; the work is
/// copied, and what it refers to must outlive it: it may end after the call. Errors: of the work;
/// as of worker_port::run. Cancellation and threads: as of worker_port::run.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): a port outlives its calls
template <class Value>
[[nodiscard]] coro::task<result<Value>> value_of_work(
    worker_port& workers, std::function<result<Value>(const std::atomic<bool>& abandoned)> work,
    coro::call_context context) {
    // Of both sides: the caller may be gone when the work ends.
    const auto value = std::make_shared<std::optional<result<Value>>>();
    const worker_port::work job = [value,
                                   work = std::move(work)](const std::atomic<bool>& abandoned) {
        value->emplace(work(abandoned));
    };
    const result<void> ran = co_await workers.run(job, context);
    if (!ran) co_return ran.error();
    if (!*value) co_return error(errc::internal, "a piece of work has no result");
    co_return *std::move(*value);
}
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

} // namespace heddle::ports
