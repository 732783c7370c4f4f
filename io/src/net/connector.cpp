#include "connector.hpp"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace heddle::net {

namespace {

/// Errors of a machine without a route there explain less than one from the other side.
bool reports_more(const boost::system::error_code& fresh, const boost::system::error_code& known) {
    const auto no_way = [](const boost::system::error_code& ec) {
        return ec.value() == ENETUNREACH || ec.value() == EHOSTUNREACH ||
               ec.value() == EADDRNOTAVAIL || ec.value() == EAFNOSUPPORT;
    };
    return !known || (no_way(known) && !no_way(fresh));
}

} // namespace

connector::connector(readiness_set& set, coro::event_loop& loop, address_list addresses,
                     std::chrono::milliseconds stagger, connect_listener& listener)
    : set_(set), loop_(loop), addresses_(std::move(addresses)), listener_(listener),
      fsm_(addresses_->size(), stagger) {}

connector::~connector() { close_attempts(); }

void connector::note(const boost::system::error_code& ec) noexcept {
    if (reports_more(ec, failure_)) failure_ = ec;
}

void connector::close_attempts() noexcept {
    for (const auto& open : attempts_) set_.close(open->descriptor, *open);
    attempts_.clear();
}

boost::system::error_code connector::start() {
    if (perform(fsm_.start())) return failure_;
    return {};
}

bool connector::perform(connect_step step) {
    while (step == connect_step::try_next) {
        boost::system::error_code ec;
        const int descriptor = begin_connect((*addresses_)[fsm_.next_index()], ec);
        if (descriptor < 0) {
            note(ec);
            step = fsm_.attempt_failed(false);
            continue;
        }
        auto fresh = std::make_unique<attempt>(*this, descriptor);
        ec = set_.add(descriptor, *fresh, readiness_set::interest::connect);
        if (ec) {
            ::close(descriptor);
            note(ec);
            step = fsm_.attempt_failed(false);
            continue;
        }
        attempts_.push_back(std::move(fresh));
        step = fsm_.begun(set_.now());
    }
    const auto next = fsm_.next_time();
    if (next == coro::clock::time_point::max()) unschedule();
    else loop_.schedule(*this, next);
    return step == connect_step::fail;
}

void connector::on_timer() noexcept {
    if (perform(fsm_.timed(loop_.now()))) listener_.on_connect_failed(failure_);
}

void connector::attempt_ended(attempt& ended) noexcept {
    const boost::system::error_code ec = connect_outcome(ended.descriptor);
    const auto at = std::find_if(attempts_.begin(), attempts_.end(),
                                 [&](const auto& one) { return one.get() == &ended; });
    const std::unique_ptr<attempt> self = std::move(*at);
    attempts_.erase(at);
    if (ec) {
        note(ec);
        set_.close(self->descriptor, *self);
        if (perform(fsm_.attempt_failed(true))) listener_.on_connect_failed(failure_);
        return;
    }
    if (fsm_.attempt_connected() != connect_step::succeed) return;
    unschedule();
    close_attempts();
    listener_.on_connected(self->descriptor);
}

} // namespace heddle::net
