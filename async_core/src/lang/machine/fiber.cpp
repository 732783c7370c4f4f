#include <heddle/lang/fiber.hpp>

#include "future.hpp"
#include "join.hpp"
#include "pending_job.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/extent_mark.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace heddle::lang {

namespace {

/// Beside what its driver keeps: the coroutines of an effect, or of what else it waits for.
constexpr std::size_t kept_while_waiting = 1024;
/// Values by which a stack grows at once at most: to write half of the stack of a deep recursion
/// would keep timers waiting.
constexpr std::size_t max_growth = std::size_t{4} * 1024 * 1024 / sizeof(value);

constexpr std::size_t kept_in_all = sizeof(fiber) + fiber::kept_by_driver + kept_while_waiting;

} // namespace

fiber::fiber(lang::realm& realm) : realm_(&realm) { realm_->memory().charge(kept_in_all); }

fiber::~fiber() {
    leave_wait(); // no queue keeps it
    while (opened_) opened_->not_opened();
    for (const inline_branch& each : branches_)
        static_cast<join*>(host_of(each.group))->ends_on(*this);
    for (std::size_t i = 0; i < capacity_; ++i) stack_[i].~value();
    std::free(stack_);
    realm_->memory().discharge(kept_in_all + capacity_ * sizeof(value) + charged_frames_);
}

void fiber::reserve(std::size_t registers) {
    if (registers <= capacity_) return;
    // Exact for the first use (most fibers stay small), then by half, up to a bound.
    const std::size_t wanted =
        capacity_ == 0 ? registers
                       : std::max(registers, capacity_ + std::min(capacity_ / 2, max_growth));
    if (realm_->moves_stacks()) return relocate(registers);
    // Values are trivially relocatable, so realloc may move them (and remaps pages of big stacks).
    auto* grown =
        static_cast<value*>(std::realloc(static_cast<void*>(stack_), wanted * sizeof(value)));
    if (!grown) throw std::bad_alloc();
    stack_ = grown;
    for (std::size_t i = capacity_; i < wanted; ++i) new (stack_ + i) value();
    realm_->memory().charge((wanted - capacity_) * sizeof(value));
    capacity_ = wanted;
}

void fiber::give_back_spare() noexcept {
    constexpr std::size_t much = max_growth / 4;
    constexpr std::size_t portion = 2 * max_growth; // some 1 ms to give back
    frames_.give_back_spare();
    if (capacity_ < much || frames_.empty() || frames_.back().base > capacity_ / 4) return;
    const std::size_t reached = end_of_frames();
    const std::size_t wanted =
        std::max({capacity_ - std::min(capacity_, portion), 2 * reached, much / 2});
    if (reached > capacity_ / 4 || wanted >= capacity_) return;
    for (std::size_t i = wanted; i < capacity_; ++i) stack_[i].~value();
    if (auto* kept = std::realloc(static_cast<void*>(stack_), wanted * sizeof(value)))
        stack_ = static_cast<value*>(kept);
    realm_->memory().discharge((std::exchange(capacity_, wanted) - wanted) * sizeof(value));
}

bool fiber::leave_wait() noexcept {
    if (waits_ == waiting_for::permit) {
        std::exchange(waits_scope_, nullptr)->forget(*this);
        if (auto* group = host_as<join>(waits_on_)) group->permit_awaited();
    } else if (waits_ == waiting_for::future) {
        static_cast<class future*>(host_of(waits_on_))->forget(*this);
    } else {
        return false;
    }
    waits_ = waiting_for::nothing;
    waits_on_.set_nil();
    return true;
}

void fiber::relocate(std::size_t registers) {
    auto* moved = static_cast<value*>(std::malloc(registers * sizeof(value)));
    if (!moved) throw std::bad_alloc();
    const std::size_t kept = std::min(registers, capacity_);
    for (std::size_t i = kept; i < capacity_; ++i) stack_[i].~value();
    if (kept != 0)
        std::memcpy(static_cast<void*>(moved), static_cast<const void*>(stack_),
                    kept * sizeof(value));
    for (std::size_t i = kept; i < registers; ++i) new (moved + i) value();
    if (stack_) std::memset(static_cast<void*>(stack_), 0xDD, capacity_ * sizeof(value));
    std::free(stack_);
    stack_ = moved;
    realm_->memory().charge(registers * sizeof(value));
    realm_->memory().discharge(std::exchange(capacity_, registers) * sizeof(value));
}

std::size_t fiber::end_of_frames() const noexcept {
    std::size_t end = 1;
    for (std::size_t k = 0; k < frames_.size(); ++k)
        end = std::max<std::size_t>(end, frames_[k].base + std::size_t{frames_[k].code->registers});
    return end;
}

void fiber::move_away() {
    const std::size_t reached = frames_.empty() ? capacity_ : end_of_frames();
    if (reached != 0) relocate(reached);
    frames_.move_away();
}

void fiber::request_cancel(cancel_reason reason, double end) noexcept {
    if (!ask_to_end(reason, end)) return;
    queue_next_ = nullptr;
    ask_branches(this);
}

bool fiber::ask_to_end(cancel_reason reason, double end) noexcept {
    if (cancel_requested()) return false;
    cancel_ = reason;
    cancel_end_ = std::min(end, realm_->host().begin_time() + cleanup_seconds);
    // A parked parent stays parked until its branches have ended. A cleanup goes on, but not for
    // long; nor do the branches that it waits for. Those around it do not.
    if (waits_ == waiting_for::children) return true;
    if (cancellation_masked()) return opened_ != nullptr;
    switch (waits_) {
    case waiting_for::nothing: break; // seen at its next step
    case waiting_for::effect:
        if (driver) driver->cancel_effect(*this);
        break;
    case waiting_for::permit:
    case waiting_for::future:
        leave_wait();
        if (driver) driver->wake(*this);
        break;
    case waiting_for::children: break;
    }
    return opened_ != nullptr;
}

/// Without recursion: branches nest as deep as the memory allows.
void fiber::ask_branches(fiber* waiting) noexcept {
    while (waiting) {
        fiber& next = *waiting;
        waiting = std::exchange(next.queue_next_, nullptr);
        join* awaited = nullptr;
        if (next.waits_ == waiting_for::children) {
            awaited = static_cast<join*>(host_of(next.waits_on_));
            if (next.cancellation_masked()) awaited->end_cleanups_by(next.cancel_end_);
            else awaited->ask_children(next.cancel_, next.cancel_end_, waiting);
        }
        for (join* each = next.opened_; each; each = each->opened_before()) {
            if (each != awaited && each->ends_with_opener())
                each->ask_fibers(next.cancel_, next.cancel_end_, waiting);
        }
    }
}

bool fiber::limit_cleanups(double end) noexcept {
    // The branches below know it already: repeated by each fiber above, it would cost the square.
    if (reported_end_ <= end) return false;
    reported_end_ = end;
    const auto limit = [&](cleanup_limits& limits) {
        limits.forced = true;
        limits.end = std::min(limits.end, end);
    };
    if (of_cleanup_) limit(ending_);
    for (cleanup_mark& each : cleanups_) limit(each.limits);
    return true;
}

void fiber::end_cleanup_by(double end) noexcept {
    if (limit_cleanups(end) && waits_ == waiting_for::children)
        static_cast<join*>(host_of(waits_on_))->end_cleanups_by(end);
}

std::unique_ptr<fiber> start_fiber(realm& realm, value callee, std::span<const value> arguments,
                                   scope_ref scope) {
    auto object = std::make_unique<fiber>(realm);
    object->scope_ = std::move(scope);
    object->slot_ = realm.next_fiber_number();
    object->reserve(1 + arguments.size());
    object->stack_[0] = std::move(callee);
    for (std::size_t i = 0; i < arguments.size(); ++i) object->stack_[1 + i] = arguments[i];
    object->first_call_ = static_cast<std::int32_t>(arguments.size());
    return object;
}

std::unique_ptr<fiber> start_fiber(realm& realm, const function_ref& code, scope_ref scope) {
    return start_fiber(realm, make_closure(realm.memory(), *code, 0), {}, std::move(scope));
}

} // namespace heddle::lang
