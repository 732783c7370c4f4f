#include <heddle/coro/event_loop.hpp>

#include <heddle/coro/handler_memory.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

namespace heddle::coro {

struct event_loop::driver {
    explicit driver(event_loop& loop) : owner(&loop), timer(loop.context_) {}

    using timer_type =
        boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>, executor>;

    event_loop* owner; // null once the loop is gone
    timer_type timer;
    std::uint64_t armed_for = std::numeric_limits<std::uint64_t>::max();
    handler_memory<2> memory; ///< of the wait, and of one that was replaced
};

event_loop::event_loop(boost::asio::io_context& context, time passes)
    : context_(context), executor_(context.get_executor()), address_(*this, executor_),
      passes_(passes),
      // Any fixed time that is not the clock's zero would do.
      epoch_(passes == time::real ? clock::now() : clock::time_point(std::chrono::hours(1))),
      virtual_now_(epoch_), driver_(std::make_shared<driver>(*this)) {}

event_loop::~event_loop() {
    address_.close(context_.stopped());
    driver_->owner = nullptr;
    driver_->timer.cancel();
}

std::uint64_t event_loop::tick_of(clock::time_point at) const noexcept {
    if (at <= epoch_) return 0;
    // Rounded up: a timer never fires early.
    const auto since = std::chrono::ceil<std::chrono::milliseconds>(at - epoch_).count();
    return static_cast<std::uint64_t>(since);
}

/// Timers of one tick fire in the order of their times.
std::uint64_t event_loop::order_of(clock::time_point at) const noexcept {
    return at <= epoch_ ? 0 : static_cast<std::uint64_t>((at - epoch_).count());
}

void event_loop::schedule(timer_node& node, clock::time_point at) {
    wheel_.schedule(node, tick_of(at), order_of(at));
    if (wheel_.next_tick() >= driver_->armed_for) return;
    try {
        arm();
    } catch (...) {
        driver_->armed_for = std::numeric_limits<std::uint64_t>::max(); // armed by the next one
        node.unschedule();
        throw;
    }
}

std::chrono::system_clock::time_point event_loop::time_of_day() const noexcept {
    if (passes_ == time::real) return std::chrono::system_clock::now();
    constexpr std::chrono::sys_days start = std::chrono::year(2000) / 1 / 1;
    return start +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(virtual_now_ - epoch_);
}

void event_loop::run() {
    for (;;) {
        try {
            if (passes_ == time::real) context_.run();
            else run_virtual();
            return;
        } catch (const std::bad_alloc&) {
            // Asio could not allocate for an internal step. Its waiters were notified when it was
            // dropped.
        }
    }
}

void event_loop::run_virtual() {
    for (;;) {
        if (context_.stopped()) context_.restart(); // it stops by itself when it is out of work
        const bool worked = context_.poll_one() != 0;
        if (!worked) {
            if (wheel_.empty()) return;
            // To the very time of the next timer: what ends before a deadline is not late.
            const clock::time_point next =
                epoch_ + clock::duration(static_cast<clock::rep>(wheel_.next_order()));
            virtual_now_ = std::max(virtual_now_, next);
            wheel_.advance_to_next();
            continue;
        }
        const auto elapsed =
            std::chrono::floor<std::chrono::milliseconds>(virtual_now_ - epoch_).count();
        wheel_.advance(static_cast<std::uint64_t>(elapsed));
    }
}

void event_loop::pass(clock::duration spent) noexcept {
    if (passes_ == time::virtual_) virtual_now_ += spent;
}

void event_loop::arm() {
    if (passes_ == time::virtual_) return; // run() looks at the wheel itself
    const std::uint64_t next = wheel_.next_tick();
    driver_->armed_for = next;
    if (next == std::numeric_limits<std::uint64_t>::max()) return;
    // expires_at cancels the wait before it; that one sees operation_aborted and does nothing.
    driver_->timer.expires_at(epoch_ + std::chrono::milliseconds(next));
    auto fire = [held = driver_](const boost::system::error_code& ec) {
        if (ec || !held->owner || held->armed_for == std::numeric_limits<std::uint64_t>::max())
            return;
        event_loop& loop = *held->owner;
        const auto elapsed =
            std::chrono::floor<std::chrono::milliseconds>(clock::now() - loop.epoch_).count();
        held->armed_for = 0; // timers scheduled while firing do not re-arm one by one
        loop.wheel_.advance(static_cast<std::uint64_t>(elapsed));
        loop.arm();
    };
    driver_->timer.async_wait(
        boost::asio::bind_allocator(allocate_in(driver_->memory), std::move(fire)));
}

void event_loop::settle() noexcept {
    if (!wheel_.empty()) return;
    driver_->armed_for = std::numeric_limits<std::uint64_t>::max();
    driver_->timer.cancel();
}

} // namespace heddle::coro
