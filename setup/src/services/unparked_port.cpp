#include "services/unparked_port.hpp"

#include <utility>

namespace heddle::setup {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

unparked_port::unparked_port(ports::llm_port& inner, log_port& log, std::string why,
                             bool& has_warned)
    : forwarding_llm_port(inner), log_(log), why_(std::move(why)), has_warned_(has_warned) {}

void unparked_port::look_at(const chat_request& request) {
    if (!request.scheduling.park.value_or(false) || has_warned_) return;
    has_warned_ = true;
    std::string text = "the setting park has no effect: ";
    if (!request.origin.task.empty())
        text.insert(0, "task '" + std::string(request.origin.task) + "': ");
    log_.write(log_level::warn, "llm", text + why_ + "; the requests are sent at once");
}

// Both return the coroutine of the service: an own one would cost every call a frame.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> unparked_port::complete(const chat_request& request,
                                                    call_context context) {
    look_at(request);
    return inner_.complete(request, context);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in complete
task<result<chat_response>> unparked_port::stream(const chat_request& request,
                                                  ports::chat_delta_sink on_delta,
                                                  call_context context) {
    look_at(request);
    return inner_.stream(request, std::move(on_delta), context);
}

} // namespace heddle::setup
