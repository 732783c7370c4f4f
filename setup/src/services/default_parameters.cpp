#include "services/default_parameters.hpp"

#include <utility>

namespace heddle::setup {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

default_parameters::default_parameters(ports::llm_port& inner, tasks::request_parameters parameters)
    : forwarding_llm_port(inner), parameters_(std::move(parameters)) {}

// `request` by reference: the port requires that it outlives the call.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters)
task<result<chat_response>> default_parameters::complete(const chat_request& request,
                                                         call_context context) {
    chat_request filled = request;
    tasks::apply_absent(parameters_, filled);
    result<chat_response> outcome = co_await inner_.complete(filled, context);
    co_return outcome;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> default_parameters::stream(const chat_request& request,
                                                       ports::chat_delta_sink on_delta,
                                                       call_context context) {
    chat_request filled = request;
    tasks::apply_absent(parameters_, filled);
    result<chat_response> outcome = co_await inner_.stream(filled, std::move(on_delta), context);
    co_return outcome;
}

} // namespace heddle::setup
