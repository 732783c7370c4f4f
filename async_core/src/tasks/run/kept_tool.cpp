#include "tasks/run/kept_tool.hpp"

#include "tasks/run/kept_failure.hpp"
#include "tasks/run/part_digest.hpp"
#include "tasks/run/subtasks.hpp"
#include "tasks/run/task_runner.hpp"

#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/step_memory.hpp>

#include <string>
#include <utility>

namespace heddle::tasks {

namespace {

/// The call has an id of its own in the dialog with the model.
[[nodiscard]] ports::digest128 digest_of(const ports::tool_call& asked) {
    return part_digest::of("tool " + asked.id + '\0' + asked.name + '\0' + asked.arguments_json);
}

/// The result as it is kept; nothing: it is no data, or bound to this execution.
[[nodiscard]] std::optional<std::string> encoded(const result<lang::value>& ended,
                                                 const task_time& time) {
    if (!ended) return encode_failure(ended.error(), time);
    auto body = lang::encode_value(*ended);
    if (!body) return std::nullopt;
    return *std::move(body);
}

/// Which task's time has ended a function of the program is kept: the function runs again, but time
/// does not pass again.
[[nodiscard]] coro::task<error> cut_function(task_runner* runner, ports::digest128 content,
                                             std::string name, const task_time* time, error failure,
                                             coro::call_context context) {
    const std::optional<ports::kept_part> before = co_await context.step->take(content, context);
    if (before && before->is_failure)
        co_return decode_failure(runner->session().memory(), before->body, *time);
    auto body = encode_failure(failure, *time);
    if (body && context.step->may_ask())
        co_await context.step->keep_failure(content, std::move(name), *std::move(body));
    co_return failure;
}

} // namespace

coro::task<result<lang::value>> run_kept_tool(task_runner* runner,
                                              std::shared_ptr<const registered_tool> one,
                                              const ports::tool_call* asked, const task_time* time,
                                              host::effect_call call) {
    const coro::call_context context = call.context;
    const bool is_done_again = one->declared.replays == host::replay_class::redo ||
                               one->declared.replays == host::replay_class::derived;
    const bool is_function = one->declared.body != nullptr;
    if (!context.step || is_function || is_done_again) {
        const std::string function = is_function ? one->declared.name : std::string();
        result<lang::value> ended = co_await run_tool(*runner, std::move(one), std::move(call));
        if (context.step && is_function && !ended && ended.error().is_cancelled()) {
            error cut = co_await cut_function(runner, digest_of(*asked), function, time,
                                              std::move(ended).error(), context);
            co_return cut;
        }
        co_return ended;
    }
    const ports::digest128 content = digest_of(*asked);
    const std::optional<ports::kept_part> before = co_await context.step->take(content, context);
    if (before) co_return decode_outcome(runner->session().memory(), before->body, *time);
    std::string name = one->declared.name;
    result<lang::value> ended = co_await run_tool(*runner, std::move(one), std::move(call));
    std::optional<std::string> body = encoded(ended, *time);
    if (!body) co_return ended;
    result<void> kept =
        co_await context.step->keep_result(content, std::move(name), *std::move(body), context);
    if (!kept) co_return std::move(kept).error();
    co_return ended;
}

} // namespace heddle::tasks
