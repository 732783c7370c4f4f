#include <heddle/providers/common/remote_provider.hpp>

#include "common/remote_call.hpp"

#include <heddle/coro/run_on.hpp>

#include <utility>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::chat_delta_sink;
using ports::chat_request;
using ports::chat_response;

remote_provider::remote_provider(coro::loop_address home, ports::llm_port& service)
    : home_(std::move(home)), service_(service), name_(service.provider_name()),
      keeps_responses_(service.keeps_responses()), max_at_once_(service.max_requests_at_once()) {}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> remote_provider::complete(const chat_request& request,
                                                      call_context context) {
    return call(request, false, {}, context);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> remote_provider::stream(const chat_request& request,
                                                    chat_delta_sink on_delta,
                                                    call_context context) {
    return call(request, true, std::move(on_delta), context);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> remote_provider::call(const chat_request& request, bool streams,
                                                  chat_delta_sink on_delta, call_context context) {
    if (auto stop = context.stop_error()) co_return std::move(*stop).with_attempts(0);
    const auto shared =
        std::make_shared<remote_call>(service_, home_, request, streams, context.loop->address());
    remote_caller caller(shared, request, std::move(on_delta), context);
    auto work = [shared](call_context home) { return shared->perform(home); };
    result<chat_response> outcome = co_await coro::run_on(home_, context, std::move(work));
    result<chat_response> ended = co_await caller.finish(std::move(outcome));
    co_return ended;
}

} // namespace heddle::providers
