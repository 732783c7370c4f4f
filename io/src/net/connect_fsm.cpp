#include <heddle/net/connect_fsm.hpp>

namespace heddle::net {

connect_step connect_fsm::try_another() noexcept {
    if (next_ < addresses_) {
        ++next_;
        return connect_step::try_next;
    }
    if (pending_ > 0) return connect_step::wait;
    over_ = true;
    return connect_step::fail;
}

connect_step connect_fsm::start() noexcept { return try_another(); }

connect_step connect_fsm::begun(time_point now) noexcept {
    ++pending_;
    newest_ = now;
    return connect_step::wait;
}

connect_step connect_fsm::attempt_failed(bool was_begun) noexcept {
    if (over_) return connect_step::wait;
    if (was_begun) --pending_;
    return try_another();
}

connect_step connect_fsm::attempt_connected() noexcept {
    if (over_) return connect_step::wait;
    over_ = true;
    return connect_step::succeed;
}

connect_step connect_fsm::timed(time_point now) noexcept {
    if (now < next_time()) return connect_step::wait;
    return try_another();
}

connect_fsm::time_point connect_fsm::next_time() const noexcept {
    if (over_ || pending_ == 0 || next_ == addresses_) return time_point::max();
    return newest_ + stagger_;
}

} // namespace heddle::net
