#include <heddle/call.hpp>

#include "thread_check.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <thread>

namespace heddle {

struct call::shared : std::enable_shared_from_this<shared> {
    /// Emits on the executor: a signal of Asio belongs to one thread.
    struct emission {
        std::weak_ptr<shared> target;
        void operator()() const {
            if (const auto alive = target.lock()) alive->emit_later();
        }
    };

    explicit shared(call_state given) : state(std::move(given)) {}

    void emit_later() {
        boost::asio::post(state.executor, [self = shared_from_this()] {
            self->signal.emit(boost::asio::cancellation_type::terminal);
        });
    }

    /// Whether this thread is not that of the executor, nor the one that has used the slot before.
    [[nodiscard]] bool is_used_elsewhere() const {
        const auto* loop = state.executor.target<boost::asio::io_context::executor_type>();
        return loop && connection && connected_on != std::this_thread::get_id() &&
               !loop->running_in_this_thread();
    }

    call_state state;
    boost::asio::cancellation_signal signal;
    std::optional<std::stop_callback<emission>> connection; ///< from the first use of the slot on
    std::thread::id connected_on;                           ///< the thread of that use
};

call::call(call_state state) : shared_(std::make_shared<shared>(std::move(state))) {}

const boost::asio::any_io_executor& call::executor() const noexcept {
    return shared_->state.executor;
}

std::optional<std::chrono::steady_clock::time_point> call::deadline() const noexcept {
    return shared_->state.deadline;
}

std::chrono::nanoseconds call::time_left() const noexcept {
    if (!deadline()) return std::chrono::nanoseconds::max();
    return std::max<std::chrono::nanoseconds>(*deadline() - std::chrono::steady_clock::now(),
                                              std::chrono::nanoseconds::zero());
}

const std::string& call::tag() const noexcept { return shared_->state.tag; }

bool call::cancelled() const noexcept {
    return shared_->state.cancel.stop_requested() ||
           time_left() == std::chrono::nanoseconds::zero();
}

std::stop_token call::stop_token() const noexcept { return shared_->state.cancel; }

boost::asio::cancellation_slot call::slot() const {
    if (embed::checks_threads && shared_->is_used_elsewhere()) {
        embed::end_for_mistake("call::slot",
                               "used by several threads, of which one does not run the executor of "
                               "the call; post to executor(), or bind the call to another one with "
                               "on()");
    }
    if (!shared_->connection) {
        shared_->connected_on = std::this_thread::get_id();
        shared_->connection.emplace(shared_->state.cancel, shared::emission{shared_});
    } else if (shared_->state.cancel.stop_requested()) {
        shared_->emit_later(); // the operation before this one was cancelled by the first signal
    }
    return shared_->signal.slot();
}

call call::on(boost::asio::any_io_executor executor) const {
    call_state state = shared_->state;
    state.executor = std::move(executor);
    return call(std::move(state));
}

} // namespace heddle
