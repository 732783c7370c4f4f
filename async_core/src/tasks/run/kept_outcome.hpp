// A part of a durable step that is performed once.
#pragma once

#include "tasks/run/kept_failure.hpp"
#include "tasks/run/task_time.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/step_memory.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::tasks {

/// Between the value of a part and the body of its record.
template <class Value>
struct outcome_codec {
    /// Nothing: it is not data, and is not kept.
    std::optional<std::string> (*encode)(lang::heap& memory, const Value& value);
    /// Nothing: it is damaged, and the part is performed again.
    std::optional<result<Value>> (*decode)(lang::heap& memory, std::string_view body,
                                           const task_time& time);
};

/// Which part of which task it is.
struct part_identity {
    ports::digest128 content;
    std::string name;                ///< for listings
    bool asks = false;               ///< it is performed only where the step may ask
    lang::heap* memory = nullptr;    ///< both outlive the call
    const task_time* time = nullptr; ///< of the task, whose end is an outcome
};

/// The outcome that an earlier execution of context.step has kept. If it has kept none, `part` is
/// performed and its outcome is kept, unless it was cut from outside. Errors: of the part; also
/// io_error, of the journal, and cancelled where the step may ask for nothing more. Cancellation:
/// as of the part.
template <class Value>
[[nodiscard]] coro::task<result<Value>> perform_once(coro::task<result<Value>> part,
                                                     outcome_codec<Value> codec,
                                                     part_identity which,
                                                     coro::call_context context) {
    const std::optional<ports::kept_part> before =
        co_await context.step->take(which.content, context);
    if (before) {
        if (auto known = codec.decode(*which.memory, before->body, *which.time))
            co_return *std::move(known);
    }
    if (which.asks && !context.step->may_ask()) {
        error stop = co_await context.step->refused(context);
        co_return stop;
    }
    result<Value> done = co_await std::move(part);
    std::optional<std::string> body =
        done ? codec.encode(*which.memory, *done) : encode_failure(done.error(), *which.time);
    if (!body) co_return done;
    const result<void> kept = co_await context.step->keep_result(
        which.content, std::move(which.name), *std::move(body), context);
    if (!kept) co_return kept.error();
    co_return done;
}

} // namespace heddle::tasks
