#include "tasks/run/kept_tool.hpp"

#include "tasks/run/kept_end.hpp"
#include "tasks/run/kept_outcome.hpp"
#include "tasks/run/part_digest.hpp"
#include "tasks/run/subtasks.hpp"
#include "tasks/run/task_runner.hpp"

#include <heddle/lang/value_codec.hpp>

#include <string>
#include <utility>

namespace heddle::tasks {

namespace {

/// The call has an id of its own in the dialog with the model.
[[nodiscard]] ports::digest128 digest_of(const ports::tool_call& asked) {
    return part_digest::of("tool " + asked.id + '\0' + asked.name + '\0' + asked.arguments_json);
}

/// Nothing: it is not data, or bound to this execution.
[[nodiscard]] std::optional<std::string> encoded(lang::heap& /*memory*/, const lang::value& ended) {
    auto body = lang::encode_value(ended);
    if (!body) return std::nullopt;
    return *std::move(body);
}

[[nodiscard]] std::optional<result<lang::value>> decoded(lang::heap& memory, std::string_view body,
                                                         const task_time& time) {
    return decode_outcome(memory, body, time);
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
    // run_tool asks itself: not every tool does.
    part_identity which{digest_of(*asked), one->declared.name, false, &runner->session().memory(),
                        time};
    coro::task<result<lang::value>> part = run_tool(*runner, std::move(one), std::move(call));
    const outcome_codec<lang::value> codec{&encoded, &decoded};
    result<lang::value> ended =
        co_await perform_once(std::move(part), codec, std::move(which), context);
    co_return ended;
}

} // namespace heddle::tasks
