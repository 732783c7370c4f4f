#include "tasks/run/kept_executor.hpp"

#include "tasks/run/kept_outcome.hpp"
#include "tasks/run/part_digest.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/value_codec.hpp>

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
    part_identity which{digest_of(request), request.call->task->declared.name, true,
                        &request.session->memory(), time};
    coro::task<result<executor_response>> part = executor->execute(std::move(request));
    const outcome_codec<executor_response> codec{&encoded, &decoded};
    result<executor_response> done =
        co_await perform_once(std::move(part), codec, std::move(which), context);
    co_return done;
}

} // namespace heddle::tasks
