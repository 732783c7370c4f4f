#include <heddle/ports/flow_gate.hpp>

#include <heddle/coro/wait_point.hpp>

#include <utility>

namespace heddle::ports {

namespace {

class parked final : public flow_gate::listener {
public:
    coro::wait_point point;

private:
    void on_open() noexcept override { point.notify(); }
};

} // namespace

void flow_gate::listener::unlisten() noexcept {
    if (link_ == nullptr) return;
    *link_ = next_;
    if (next_ != nullptr) next_->link_ = link_;
    next_ = nullptr;
    link_ = nullptr;
}

flow_gate::~flow_gate() {
    while (first_ != nullptr) first_->unlisten();
}

void flow_gate::listen(listener& who) noexcept {
    who.unlisten();
    who.next_ = first_;
    who.link_ = &first_;
    if (first_ != nullptr) first_->link_ = &who.next_;
    first_ = &who;
}

void flow_gate::report_open() noexcept {
    // Out of the way first: whoever listens again from inside waits for the next opening.
    listener* waiting = std::exchange(first_, nullptr);
    if (waiting != nullptr) waiting->link_ = &waiting;
    while (waiting != nullptr) {
        listener& reported = *waiting;
        reported.unlisten();
        reported.on_open();
    }
}

coro::task<result<void>> flow_gate::opened(coro::call_context context) {
    parked here;
    while (!open()) {
        listen(here);
        const coro::wake woken = co_await here.point.wait(context);
        if (woken == coro::wake::notified) continue;
        if (auto stop = context.stop_error()) co_return *std::move(stop);
    }
    co_return result<void>();
}

} // namespace heddle::ports
