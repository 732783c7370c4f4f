#include "turn_queue.hpp"

namespace heddle::host {

turn_queue::place::~place() {
    if (state_ == state::queued) take_out(*this);
    else owner_.end(*this, owner_.loop_.now());
}

void turn_queue::put_last(link& list, place& who) noexcept {
    who.next = &list;
    who.previous = list.previous;
    list.previous->next = &who;
    list.previous = &who;
}

void turn_queue::take_out(place& who) noexcept {
    who.previous->next = who.next;
    who.next->previous = who.previous;
    who.state_ = place::state::outside;
}

bool turn_queue::ask(place& who, rank how) noexcept {
    if (in_batch_ == 0 && spent_ < turn && how != rank::idle) {
        share_ = turn;
        who.state_ = place::state::running;
        return true;
    }
    who.state_ = place::state::queued;
    put_last(how == rank::woken ? woken_ : computing_, who);
    if (in_batch_ == 0) next_batch();
    return false;
}

void turn_queue::seize(place& who) noexcept {
    if (who.has_turn()) return;
    if (who.state_ == place::state::queued) take_out(who);
    who.state_ = place::state::running;
}

void turn_queue::end(place& who, coro::clock::time_point began) noexcept {
    if (!who.has_turn()) return;
    const bool of_batch = who.state_ == place::state::in_batch;
    who.state_ = place::state::outside;
    spent_ += loop_.now() - began;
    if (of_batch && --in_batch_ == 0) next_batch();
}

void turn_queue::grant_to_first(link& list) noexcept {
    auto& who = static_cast<place&>(*list.next);
    take_out(who);
    who.state_ = place::state::in_batch;
    ++in_batch_;
    who.woken_.notify();
}

/// Who waits goes on behind the loop's next look at timers and sockets.
void turn_queue::next_batch() noexcept {
    const auto waits = [](const link& list) { return list.next != &list; };
    const std::size_t max_woken = waits(computing_) ? max_batch - 1 : max_batch;
    while (in_batch_ < max_woken && waits(woken_)) grant_to_first(woken_);
    while (in_batch_ < max_batch && waits(computing_)) grant_to_first(computing_);
    if (in_batch_ == 0) return;
    spent_ = {};
    share_ = turn / static_cast<int>(in_batch_);
}

} // namespace heddle::host
