#include "tasks/run/remembering_port.hpp"

#include "tasks/run/kept_failure.hpp"
#include "tasks/run/kept_refusal.hpp"
#include "tasks/run/task_costs.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/ports/response_codec.hpp>

#include <utility>

namespace heddle::tasks {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

namespace {

/// A cache was asked for a response, and has none: that is not an outcome of the request.
[[nodiscard]] bool found_nothing(const error& failure) {
    return failure.code() == ports::make_error_code(ports::llm_errc::not_found) &&
           failure.info().attempts == 0;
}

} // namespace

/// What an earlier execution has, or the error if there must be no request; nothing: it is sent.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<std::optional<result<chat_response>>> remembering_port::kept(const chat_request& request,
                                                                  call_context context) {
    std::string provider(inner_.provider_name());
    if (!settings_.empty()) provider.append(1, '\0').append(settings_);
    asked_ = ports::digest_of(request, provider);
    model_ = request.model;
    noted_ = 0;
    paid_earlier_ = false;
    is_disallowed_ = false;
    is_refused_ = false;
    for (;;) {
        const std::optional<ports::kept_part> part = co_await step_.take(asked_, context);
        if (!part) break;
        if (part->is_failure) {
            error failure = decode_failure(memory_, part->body, time_);
            if (found_nothing(failure)) continue; // as earlier versions of heddle kept it
            paid_earlier_ = true;
            co_return result<chat_response>(std::move(failure));
        }
        result<chat_response> response = ports::decode_response(part->body);
        if (!response) continue; // damaged: it is asked again
        paid_earlier_ = part->is_counted;
        co_return response;
    }
    if (step_.may_ask()) co_return std::nullopt;
    error stop = co_await step_.refused(context);
    co_return result<chat_response>(std::move(stop).with_attempts(0));
}

task<result<void>> remembering_port::note_sent(ports::cost_if_lost if_lost, call_context context) {
    ++noted_;
    result<void> done = co_await step_.note_sent(asked_, model_, if_lost, context);
    co_return done;
}

void remembering_port::note_unpaid() {
    if (noted_ == 0) return;
    --noted_;
    step_.note_unpaid(asked_);
}

task<result<chat_response>> remembering_port::keep(result<chat_response> ended,
                                                   call_context context) {
    if (!ended) {
        refusal_.mark(ended);
        // Cancelled before it was written, for one.
        if (ports::is_unpaid(ended.error()) && ports::lost_with(ended.error()).empty()) {
            while (noted_ != 0) note_unpaid();
        }
        const bool is_outcome = !is_disallowed_ && !found_nothing(ended.error());
        auto body = is_outcome ? encode_failure(ended.error(), time_) : std::nullopt;
        std::string name = is_refused_ ? host::budget_of + model_ : model_;
        if (body) co_await step_.keep_failure(asked_, std::move(name), *std::move(body), context);
        co_return ended;
    }
    // What was paid for is kept, also when the call is being ended.
    const result<void> done = co_await step_.keep(
        asked_, ended->model, ports::encode_response(*ended), costs_.spending_of(*ended), context);
    if (!done) co_return done.error();
    co_return ended;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> remembering_port::complete(const chat_request& request,
                                                       call_context context) {
    std::optional<result<chat_response>> before = co_await kept(request, context);
    if (before) co_return *std::move(before);
    result<chat_response> ended = co_await inner_.complete(request, context);
    result<chat_response> response = co_await keep(std::move(ended), context);
    co_return response;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> remembering_port::stream(const chat_request& request,
                                                     ports::chat_delta_sink on_delta,
                                                     call_context context) {
    std::optional<result<chat_response>> before = co_await kept(request, context);
    if (before) {
        if (*before && !(*before)->text.empty()) {
            const result<void> taken = on_delta((*before)->text);
            if (!taken) co_return taken.error();
        }
        co_return *std::move(before);
    }
    result<chat_response> ended = co_await inner_.stream(request, std::move(on_delta), context);
    result<chat_response> response = co_await keep(std::move(ended), context);
    co_return response;
}

} // namespace heddle::tasks
