#include "tasks/run/kept_executor.hpp"

#include "tasks/run/kept_failure.hpp"
#include "tasks/run/part_digest.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/step_memory.hpp>

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace heddle::tasks {

namespace {

constexpr std::size_t members = 5; // of an executor_response

/// By all that the call passes; not by the files that were looked up for it, which its own changes
/// may alter.
[[nodiscard]] ports::digest128 digest_of(const executor_request& asked) {
    const task_call& call = *asked.call;
    const task_template& declared = call.task->declared;
    part_digest digest("executor");
    digest.add(declared.name);
    digest.add(call.effective_subtype());
    digest.add(asked.prompt);
    digest.add(asked.system);
    digest.add(declared.model);
    digest.add(call.inputs);
    if (call.overrides) {
        digest.add(call.overrides->model);
        digest.add(call.overrides->files);
    }
    return digest.value();
}

/// Nothing: it is not data.
[[nodiscard]] std::optional<std::string> encoded(lang::heap& memory,
                                                 const executor_response& response) {
    const std::array<lang::value, members> parts{
        lang::make_string(memory, response.content), response.notes,
        lang::make_string(memory, response.failure_reason),
        lang::make_string(memory, response.failure_message), response.failure_details};
    auto body = lang::encode_value(lang::make_list(memory, parts));
    if (!body) return std::nullopt;
    return *std::move(body);
}

/// Nothing: it is damaged, and the task is performed again.
[[nodiscard]] std::optional<result<executor_response>> decoded(lang::heap& memory,
                                                               std::string_view body,
                                                               const task_time& time) {
    const result<lang::value> read = decode_outcome(memory, body, time);
    if (!read) return read.error();
    if (!read->is(lang::kind::list) || read->length() != members) return std::nullopt;
    const auto parts = lang::list_items(*read);
    const auto text = [&parts](std::size_t index) {
        const lang::value& part = parts[index];
        return part.is(lang::kind::string) ? std::string(lang::string_bytes(part)) : std::string();
    };
    return executor_response{text(0), parts[1], text(2), text(3), parts[4]};
}

} // namespace

coro::task<result<executor_response>> execute_kept(task_executor* executor, const task_time* time,
                                                   executor_request request) {
    const coro::call_context context = request.context;
    if (!context.step) {
        result<executor_response> done = co_await executor->execute(std::move(request));
        co_return done;
    }
    lang::heap& memory = request.session->memory();
    const ports::digest128 content = digest_of(request);
    const std::optional<ports::kept_part> before = co_await context.step->take(content, context);
    if (before) {
        if (auto known = decoded(memory, before->body, *time)) co_return *std::move(known);
    }
    if (!context.step->may_ask()) {
        error stop = co_await context.step->refused(context);
        co_return stop;
    }
    std::string name = request.call->task->declared.name;
    result<executor_response> done = co_await executor->execute(std::move(request));
    std::optional<std::string> body =
        done ? encoded(memory, *done) : encode_failure(done.error(), *time);
    if (!body) co_return done;
    const result<void> kept =
        co_await context.step->keep_result(content, std::move(name), *std::move(body), context);
    if (!kept) co_return kept.error();
    co_return done;
}

} // namespace heddle::tasks
