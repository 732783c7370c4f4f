#include <heddle/call.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>

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

    call_state state;
    boost::asio::cancellation_signal signal;
    std::optional<std::stop_callback<emission>> connection; ///< from the first use of the slot on
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
    if (!shared_->connection) {
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
