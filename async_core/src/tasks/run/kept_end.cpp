#include "tasks/run/kept_end.hpp"

#include "tasks/run/kept_failure.hpp"
#include "tasks/run/kept_refusal.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/ports/step_memory.hpp>

#include <memory>
#include <utility>

namespace heddle::tasks {

coro::task<std::optional<error>> kept_end::recorded() {
    const std::optional<ports::kept_part> before = co_await context_.step->take(content_, context_);
    if (!before || !before->is_failure) co_return std::nullopt;
    if (auto over = decode_refusal(before->body)) {
        std::string message = over->message;
        co_return error(errc::limit_exceeded, std::move(message))
            .with_payload(std::make_shared<budget_refusal>(*std::move(over)));
    }
    co_return decode_failure(memory_, before->body, time_);
}

coro::task<std::optional<error>> kept_end::check() {
    std::optional<error> ended = co_await recorded();
    if (ended) co_return ended;
    std::optional<error> stop = context_.stop_error();
    if (stop) co_await keep(*stop);
    co_return stop;
}

coro::task<void> kept_end::keep(error stop) {
    if (!stop.is_cancelled()) co_return;
    auto body = encode_failure(stop, time_);
    if (body) co_await context_.step->keep_failure(content_, name_, *std::move(body), context_);
}

coro::task<void> kept_end::keep_refusal(spent_budget over) {
    co_await context_.step->keep_failure(content_, host::budget_of + name_, encode_refusal(over),
                                         context_);
}

} // namespace heddle::tasks
