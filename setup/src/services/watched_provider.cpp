#include <heddle/setup/services/watched_provider.hpp>

#include <utility>

namespace heddle::setup {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in the port
task<result<chat_response>> watched_provider::complete(const chat_request& request,
                                                       call_context context) {
    if (auto refused = watch_.on_request({inner_, request, false})) co_return *std::move(refused);
    result<chat_response> outcome = co_await inner_.complete(request, context);
    co_return outcome;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> watched_provider::stream(const chat_request& request,
                                                     ports::chat_delta_sink on_delta,
                                                     call_context context) {
    if (auto refused = watch_.on_request({inner_, request, true})) co_return *std::move(refused);
    result<chat_response> outcome = co_await inner_.stream(request, std::move(on_delta), context);
    co_return outcome;
}

} // namespace heddle::setup
