#include "tasks/run/remembering_port.hpp"

#include <heddle/ports/response_codec.hpp>

#include <utility>

namespace heddle::tasks {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

std::optional<result<chat_response>> remembering_port::kept(const ports::digest128& asked) {
    const std::optional<std::string> body = step_.take(asked);
    if (!body) return std::nullopt;
    return ports::decode_response(*body);
}

task<result<chat_response>> remembering_port::keep(ports::digest128 asked,
                                                   result<chat_response> ended,
                                                   call_context context) {
    if (!ended) co_return ended;
    // What was paid for is kept, also when the call is being ended.
    const result<void> done =
        co_await step_.keep(asked, ended->model, ports::encode_response(*ended), {}, context);
    if (!done) co_return done.error();
    co_return ended;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> remembering_port::complete(const chat_request& request,
                                                       call_context context) {
    const ports::digest128 asked = ports::digest_of(request, inner_.provider_name());
    if (auto before = kept(asked)) co_return *std::move(before);
    result<chat_response> ended = co_await inner_.complete(request, context);
    result<chat_response> answer = co_await keep(asked, std::move(ended), context);
    co_return answer;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> remembering_port::stream(const chat_request& request,
                                                     ports::chat_delta_sink on_delta,
                                                     call_context context) {
    const ports::digest128 asked = ports::digest_of(request, inner_.provider_name());
    if (auto before = kept(asked)) {
        if (*before && !(*before)->text.empty()) {
            const result<void> taken = on_delta((*before)->text);
            if (!taken) co_return taken.error();
        }
        co_return *std::move(before);
    }
    result<chat_response> ended = co_await inner_.stream(request, std::move(on_delta), context);
    result<chat_response> answer = co_await keep(asked, std::move(ended), context);
    co_return answer;
}

} // namespace heddle::tasks
