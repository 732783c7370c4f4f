#include "tasks/run/shared_room.hpp"

#include <algorithm>
#include <utility>

namespace heddle::tasks {

shared_room::place::place(std::shared_ptr<shared_room> in) : in_(std::move(in)) {
    in_->waiting_.push_back(this);
}

shared_room::place::~place() {
    auto& queue = in_->waiting_;
    if (in_->turn_ == this) in_->turn_ = nullptr;
    else queue.erase(std::remove(queue.begin(), queue.end(), this), queue.end());
    in_->give_turn();
}

bool shared_room::place::is_around(const shared_room& room) const noexcept {
    const shared_room* each = room.outer_.get();
    while (each && !is_in(*each)) each = each->outer_.get();
    return each != nullptr;
}

void shared_room::place::wait_again() {
    if (in_->turn_ != this) return; // still in the queue
    in_->waiting_.push_front(this);
    in_->turn_ = nullptr;
}

void shared_room::take(const request_share& share) noexcept {
    for (shared_room* each = this; each; each = each->outer_.get()) {
        ++each->in_flight_;
        each->held_.tokens += share.tokens;
        each->held_.usd += share.usd;
    }
}

void shared_room::release(const request_share& share) noexcept {
    for (shared_room* each = this; each; each = each->outer_.get()) {
        --each->in_flight_;
        each->held_.tokens -= share.tokens;
        each->held_.usd -= share.usd;
        if (each->in_flight_ == 0) each->held_ = {}; // sums of doubles leave a rest
        each->give_turn();
    }
}

/// Whoever is woken keeps the turn until it has decided, so that nobody overtakes it. One that
/// waits again wakes nobody: those behind it do not go before it.
void shared_room::give_turn() noexcept {
    if (turn_ || waiting_.empty()) return;
    place* const first = waiting_.front();
    waiting_.pop_front();
    turn_ = first;
    first->point.notify();
}

} // namespace heddle::tasks
