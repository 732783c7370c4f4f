#include <heddle/job.hpp>

#include "job_state.hpp"

#include <heddle/failure.hpp>

#include <boost/asio/system_executor.hpp>

namespace heddle {

namespace embed {

void job_state::on_end(result<answer> ended) {
    const std::lock_guard held(mutex_);
    has_ended_ = true;
    if (waiting_) std::exchange(waiting_, {}).complete(std::move(ended));
    else ended_ = std::move(ended);
}

void job_state::take(handler waiting) {
    pieces_->let_go();
    const std::lock_guard held(mutex_);
    if (ended_) {
        waiting.complete(*std::exchange(ended_, std::nullopt));
        return;
    }
    if (waiting_ || has_ended_) {
        waiting.complete(
            error(errc::invalid_argument, "the result of a job can be taken only once"));
        return;
    }
    waiting.on_cancel([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->cancel();
    });
    waiting_ = std::move(waiting);
}

void job_state::cancel() {
    if (const auto running = call_.lock()) running->cancel(cancel_reason::user);
}

boost::asio::any_completion_executor job_state::handler_executor() const {
    const auto running = call_.lock();
    // Also of a runtime that is being destroyed: it waits for its calls.
    if (running && running->home) return posting(running->home->get_executor());
    if (const auto core = core_.lock()) return core->handler_executor();
    return posting(boost::asio::system_executor());
}

} // namespace embed

void job::cancel() noexcept {
    if (state_) state_->cancel();
}

void job::abandon() noexcept {
    if (!state_) return;
    state_->pieces().abandon();
    state_->cancel();
}

void job::start_next(std::shared_ptr<embed::job_state> state,
                     detail::posted_handler<std::optional<piece>> handler) {
    if (!state) {
        embed::piece_buffer::reader(std::move(handler),
                                    embed::posting(boost::asio::system_executor()))
            .complete(std::nullopt);
        return;
    }
    state->pieces().next({std::move(handler), state->handler_executor()});
}

void job::start_result(std::shared_ptr<embed::job_state> state,
                       detail::posted_handler<heddle::result<answer>> handler) {
    if (!state) {
        embed::job_state::handler(std::move(handler),
                                  embed::posting(boost::asio::system_executor()))
            .complete(error(errc::invalid_argument, "there is no job"));
        return;
    }
    state->take({std::move(handler), state->handler_executor()});
}

} // namespace heddle
