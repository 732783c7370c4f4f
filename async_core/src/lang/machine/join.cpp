#include "join.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

void concurrency_scope::hand_over() noexcept {
    fiber* next = queue_.front();
    queue_.pop_front();
    next->granted_ = this; // the permit changes hands; running_ stays
    next->waits_ = waiting_for::nothing;
    next->waits_scope_ = nullptr;
    if (next->driver) next->driver->wake(*next);
}

void concurrency_scope::wait(fiber& strand) {
    strand.waits_ = waiting_for::permit;
    strand.waits_scope_ = this;
    queue_.push_back(&strand);
}

void concurrency_scope::forget(fiber& strand) noexcept {
    queue_.erase(std::remove(queue_.begin(), queue_.end(), &strand), queue_.end());
}

join::join(heap& memory, std::size_t slots, join_policy policy, std::string label,
           concurrency_scope* scope, value scope_value)
    : memory_(memory), policy_(policy), label_(std::move(label)), scope_(scope),
      scope_value_(std::move(scope_value)) {
    if (policy_ == join_policy::first) return;
    results_ = make_list_with_capacity(memory, slots);
    if (slots == 0) return;
    auto* storage = static_cast<list_object*>(results_.target());
    for (std::size_t i = 0; i < slots; ++i) new (storage->items() + i) value();
    storage->end = static_cast<std::uint32_t>(slots);
    results_ = std::move(results_).window(0, slots);
}

void join::deliver(std::uint32_t slot, value v) {
    if (policy_ == join_policy::first) {
        if (!winner_) {
            winner_ = std::move(v);
            stop(cancel_reason::sibling);
        }
        return;
    }
    if (policy_ == join_policy::settled) {
        value settled = map_put(memory_, value::empty_map(), "ok", value::boolean(true));
        v = map_put(memory_, std::move(settled), "value", std::move(v));
    }
    // Nobody else has seen the list yet, so writing in place keeps it immutable to the program.
    static_cast<list_object*>(results_.target())->items()[slot] = std::move(v);
}

void join::fail(std::uint32_t slot, error failure) {
    ++failures_;
    if (policy_ == join_policy::settled) {
        value settled = map_put(memory_, value::empty_map(), "ok", value::boolean(false));
        value message = make_string(memory_, failure.message());
        value described = map_put(memory_, value::empty_map(), "kind",
                                  make_string(memory_, error_kind_name(failure)));
        described = map_put(memory_, std::move(described), "message", std::move(message));
        settled = map_put(memory_, std::move(settled), "error", std::move(described));
        static_cast<list_object*>(results_.target())->items()[slot] = std::move(settled);
        return;
    }
    if (policy_ == join_policy::first) {
        failure_ =
            failure_ ? std::move(failure).with_cause(*std::move(failure_)) : std::move(failure);
        return;
    }
    if (failure_) return;
    failure_ = std::move(failure);
    failed_slot_ = slot;
    stop(cancel_reason::sibling);
}

void join::add(fiber& child) {
    child.child_index_ = static_cast<std::uint32_t>(children_.size());
    children_.push_back(&child);
}

void join::remove(fiber& child) {
    children_[child.child_index_] = children_.back();
    children_[child.child_index_]->child_index_ = child.child_index_;
    children_.pop_back();
    if (!children_.empty() || !parked_) return;
    fiber* waiting = std::exchange(parked_, nullptr);
    waiting->waits_ = waiting_for::nothing;
    if (waiting->driver) waiting->driver->wake(*waiting);
}

void join::stop(cancel_reason reason) noexcept {
    stopping_ = true;
    // A copy: a child that is asked to end may be removed at once.
    const std::vector<fiber*> living = children_;
    for (fiber* child : living) child->request_cancel(reason);
}

void join::cancel(cancel_reason reason) noexcept { stop(reason); }

result<value> join::outcome() {
    if (policy_ == join_policy::first) {
        if (winner_) return *winner_;
        if (failure_) return *failure_;
        return error(errc::evaluation, "race: there was nothing to run");
    }
    if (failure_) {
        error failure = *failure_;
        if (label_.empty()) return failure;
        return std::move(failure).with_trace(label_ + " " + std::to_string(failed_slot_ + 1));
    }
    return results_;
}

} // namespace heddle::lang
