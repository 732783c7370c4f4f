#include <heddle/job.hpp>

#include "job_state.hpp"

#include <heddle/failure.hpp>

#include <boost/asio/system_executor.hpp>

namespace heddle {

namespace embed {

void job_state::on_end(result<answer> ended) {
    const std::lock_guard held(mutex_);
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
    if (waiting_ || call_.expired()) {
        waiting.complete(error(errc::invalid_argument, "the result of a job is there once"));
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

namespace {

boost::asio::any_completion_executor executor_of(const job_state& state) {
    const auto running = state.call();
    if (!running || !running->home) return boost::asio::system_executor();
    return running->home->get_executor();
}

} // namespace

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
                     boost::asio::any_completion_handler<void(std::optional<piece>)> handler) {
    if (!state) {
        embed::piece_buffer::reader(std::move(handler), boost::asio::system_executor())
            .complete(std::nullopt);
        return;
    }
    state->pieces().next({std::move(handler), embed::executor_of(*state)});
}

void job::start_result(std::shared_ptr<embed::job_state> state,
                       boost::asio::any_completion_handler<void(heddle::result<answer>)> handler) {
    if (!state) {
        embed::job_state::handler(std::move(handler), boost::asio::system_executor())
            .complete(error(errc::invalid_argument, "there is no job"));
        return;
    }
    state->take({std::move(handler), embed::executor_of(*state)});
}

} // namespace heddle
