#include "tasks/run/kept_tool.hpp"

#include "tasks/run/kept_end.hpp"
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

/// The result as it is kept; nothing: it is not data, or bound to this execution.
[[nodiscard]] std::optional<std::string> encoded(const result<lang::value>& ended,
                                                 const task_time& time) {
    if (!ended) return encode_failure(ended.error(), time);
    auto body = lang::encode_value(*ended);
    if (!body) return std::nullopt;
    return *std::move(body);
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
        if (context.step && is_function) {
            kept_end beginning(runner->session().memory(), *time, context,
                               part_digest::of("end of time before " +
                                               std::to_string(time->number()) + ' ' + asked->id),
                               function);
            std::optional<error> over = co_await beginning.check();
            if (over) co_return *std::move(over);
        }
        result<lang::value> ended = co_await run_tool(*runner, std::move(one), std::move(call));
        if (context.step && is_function && !ended && ended.error().is_cancelled()) {
            // Which task's time has ended the function is kept: it runs again, but time does not
            // pass again.
            kept_end cut(runner->session().memory(), *time, context, digest_of(*asked), function);
            std::optional<error> before = co_await cut.recorded();
            if (before) co_return *std::move(before);
            co_await cut.keep(ended.error());
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
