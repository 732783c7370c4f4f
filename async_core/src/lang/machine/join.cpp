#include "join.hpp"

#include "lang/builtins/results.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t max_kept_losers = 16;

} // namespace

void concurrency_scope::hand_over() noexcept {
    fiber& next = *queue_.first();
    queue_.remove(next);
    next.granted_ = this; // the permit changes hands; running_ stays
    next.waits_ = waiting_for::nothing;
    next.waits_scope_ = nullptr;
    if (auto* group = host_as<join>(next.waits_on_)) group->permit_awaited();
    next.waits_on_.set_nil();
    if (next.driver) next.driver->wake(next);
}

void concurrency_scope::wait(fiber& self) noexcept {
    self.waits_ = waiting_for::permit;
    self.waits_scope_ = this;
    queue_.push_back(self);
}

void concurrency_scope::replace(fiber& other, fiber& self) noexcept {
    queue_.replace(other, self);
    self.waits_ = waiting_for::permit;
    self.waits_scope_ = this;
}

join::join(realm& realm, std::size_t slots, join_policy policy, std::string label,
           host_ref<concurrency_scope> scope)
    : realm_(realm), memory_(realm.memory()), policy_(policy), label_(std::move(label)),
      scope_(std::move(scope)), slots_(needs_all() ? slots : 0) {
    if (slots_ != 0) results_ = make_list_with_capacity(memory_, slots_);
    else if (needs_all()) results_ = value::empty_list();
}

/// Where the result of a slot belongs. So are those before it: a million of them are not made at
/// once.
value& join::place_of(std::size_t slot) noexcept {
    auto* storage = static_cast<list_object*>(results_.target());
    for (; storage->end <= slot; ++storage->end) new (storage->items() + storage->end) value();
    return storage->items()[slot];
}

std::size_t join::slots() const noexcept { return slots_; }

void join::visit_values(value_visitor& visitor) const {
    branch_group::visit_values(visitor);
    visitor.visit(scope_.as_value());
    visitor.visit(results_);
    visitor.visit(failed_result_);
    if (winner_) visitor.visit(*winner_);
    if (failure_) visit_error(visitor, *failure_);
    for (const error& each : losers_) visit_error(visitor, each);
}

void join::deliver(std::uint32_t slot, value v) noexcept {
    try {
        deliver_value(slot, std::move(v));
    } catch (...) {
        fail_all(slot, error_of_exception("a branch"));
    }
}

void join::fail(std::uint32_t slot, error failure) noexcept {
    try {
        deliver_failure(slot, std::move(failure));
    } catch (...) {
        fail_all(slot, error_of_exception("a branch"));
    }
}

void join::deliver_value(std::uint32_t slot, value v) {
    if (wants_one()) {
        if (winner_) return;
        if (is_failed_result(v)) {
            failed_result_ = std::move(v);
            note_loss(slot);
            return;
        }
        winner_ = std::move(v);
        winner_slot_ = slot;
        stop(cancel_reason::sibling);
        return;
    }
    if (policy_ == join_policy::settled) {
        value settled = map_put(memory_, value::empty_map(), "ok", value::boolean(true));
        v = map_put(memory_, std::move(settled), "value", std::move(v));
    }
    // Nobody else has seen the list yet, so writing in place keeps it immutable to the program.
    place_of(slot) = std::move(v);
    ++ended_;
}

void join::deliver_failure(std::uint32_t slot, error failure) {
    // What no catch may take, no policy turns into a value.
    const bool ends_all = passes_catches(failure);
    if (policy_ == join_policy::settled && !ends_all) {
        value settled = map_put(memory_, value::empty_map(), "ok", value::boolean(false));
        settled = map_put(memory_, std::move(settled), "error", describe_error(realm_, failure));
        place_of(slot) = std::move(settled);
        ++ended_;
        ++failed_;
        return;
    }
    if (wants_one() && !ends_all) {
        if (winner_) return;
        if (!label_.empty())
            failure = with_outer_line(std::move(failure), label_ + " " + std::to_string(slot + 1));
        if (losers_.size() >= max_kept_losers) {
            charge_.set(memory_, charge_.bytes() - footprint(losers_.front()));
            losers_.erase(losers_.begin());
        }
        losers_.push_back(kept_apart(std::move(failure)));
        charge_.set(memory_, charge_.bytes() + footprint(losers_.back()));
        note_loss(slot);
        return;
    }
    const bool is_first = !failure_;
    fail_all(slot, kept_apart(std::move(failure)));
    if (is_first && !ends_all) end_what_fails_too();
}

void join::fail_all(std::uint32_t slot, error failure) noexcept {
    if (failure_) return;
    charge_.set(memory_, charge_.bytes() + footprint(failure));
    failure_ = std::move(failure);
    failed_slot_ = slot;
    stop(cancel_reason::sibling);
}

/// A branch has ended without success.
void join::note_loss(std::uint32_t slot) noexcept {
    if (policy_ == join_policy::hedge && slot == 0 && !second_run_) stop(cancel_reason::sibling);
}

void join::ends_on(const fiber& self) noexcept {
    const auto at = std::find(more_inline_on_.begin(), more_inline_on_.end(), &self);
    if (at != more_inline_on_.end()) {
        more_inline_on_.erase(at);
    } else if (inline_on_ == &self) {
        inline_on_ = nullptr;
        if (more_inline_on_.empty()) return;
        inline_on_ = more_inline_on_.back();
        more_inline_on_.pop_back();
    }
}

void join::note_stop() noexcept {
    if (inline_on_) inline_on_->stop_noted_ = true;
    for (fiber* each : more_inline_on_) each->stop_noted_ = true;
}

void join::add(fiber& child) noexcept {
    child.child_index_ = static_cast<std::uint32_t>(children_.size());
    children_.push_back(&child);
}

void join::remove(fiber& child) {
    if (data) data->branch_ended(child.slot_);
    children_[child.child_index_] = children_.back();
    children_[child.child_index_]->child_index_ = child.child_index_;
    children_.pop_back();
    // What is left of a race may need a permit that is held around it, or the end of the future
    // that it is part of: its opener looks again.
    const bool looks_again = wants_one() && !stopping_ && parked_ &&
                             (realm_.permits_held != 0 || parked_->scope_->spawned);
    if (!parked_ || (!children_.empty() && !looks_again)) return;
    fiber* waiting = std::exchange(parked_, nullptr);
    waiting->waits_ = waiting_for::nothing;
    waiting->waits_on_.set_nil(); // not the last reference: its frame has one
    if (waiting->driver) waiting->driver->wake(*waiting);
}

join::~join() { not_opened(); }

void join::opened_by(fiber& self, std::size_t depth) noexcept {
    not_opened();
    opener_ = &self;
    opened_at_ = depth;
    opened_before_ = self.opened_;
    if (opened_before_) opened_before_->opened_after_ = this;
    self.opened_ = this;
}

void join::pass_opened(fiber& parent, const inline_branch& branch, fiber& child) noexcept {
    join* next = nullptr; // the one opened first
    for (join* each = parent.opened_; each && each->opened_in(branch); each = each->opened_before_)
        next = each;
    while (next) {
        join* const after = next->opened_after_;
        next->opened_by(child, next->opened_at_ - branch.first_frame);
        next = after;
    }
}

void join::not_opened() noexcept {
    if (!opener_) return;
    if (opened_before_) opened_before_->opened_after_ = opened_after_;
    (opened_after_ ? opened_after_->opened_before_ : opener_->opened_) = opened_before_;
    opener_ = nullptr;
    opened_before_ = opened_after_ = nullptr;
}

bool join::ends_with_opener() const noexcept {
    const fiber& self = *opener_;
    if (!self.cancellation_masked()) return true;
    // Nobody's code: the branches of a form that is left are waited for.
    if (self.cleanups_.size() == 1 && self.waits_ == waiting_for::children &&
        self.frames_.back().at->code == op::join_abort)
        return true;
    return !of_futures() && opened_at_ < self.cleanups_.front().depth;
}

void join::ask_fibers(cancel_reason reason, double end, fiber*& waiting,
                      const fiber* spared) noexcept {
    for (fiber* child : children_) {
        if (child == spared || !child->ask_to_end(reason, end)) continue;
        child->queue_next_ = waiting;
        waiting = child;
    }
}

void join::ask_children(cancel_reason reason, double end, fiber*& waiting) noexcept {
    const bool stops_now = !std::exchange(stopping_, true) || spared_slot_;
    spared_slot_.reset();
    note_stop();
    ask_fibers(reason, end, waiting);
    if (stops_now) ask_below_inline(reason, end, waiting);
    wake_starter();
}

/// No branch is started any more, so nobody needs to wait for a permit.
void join::wake_starter() noexcept {
    if (fiber* starter = std::exchange(starter_, nullptr); starter && starter->leave_wait()) {
        if (starter->driver) starter->driver->wake(*starter);
    }
}

/// What a branch on the opener's stack has opened ends when that fiber is run next. The branches of
/// these groups must not go on until then.
void join::ask_below_inline(cancel_reason reason, double end, fiber*& waiting) noexcept {
    if (of_futures() || !inline_on_ || inline_on_ != opener_) return;
    for (join* each = opened_after_; each; each = each->opened_after_) {
        // What is below a branch that was asked before knows it.
        if (each->stopping_ && each->inline_on_ == opener_) return;
        if (each->ends_with_opener()) each->ask_fibers(reason, end, waiting);
    }
}

void join::stop(cancel_reason reason, double end) noexcept {
    fiber* waiting = nullptr;
    ask_children(reason, end, waiting);
    fiber::ask_branches(waiting);
}

void join::cancel(cancel_reason reason, double end) noexcept { stop(reason, end); }

void join::end_cleanups_by(double end) noexcept {
    fiber* waiting = nullptr;
    const auto limit = [&](const join& group) {
        for (fiber* child : group.children_) {
            if (!child->limit_cleanups(end) || child->waits_ != waiting_for::children) continue;
            child->queue_next_ = waiting;
            waiting = child;
        }
    };
    limit(*this);
    while (waiting) {
        fiber& next = *waiting;
        waiting = std::exchange(next.queue_next_, nullptr);
        limit(*static_cast<const join*>(host_of(next.waits_on_)));
    }
}

result<value> join::outcome() {
    if (wants_one() && winner_) return *winner_;
    if (!failure_ && spared_slot_) {
        failure_ = error(errc::evaluation, "a branch has ended well after the end of the others");
        failed_slot_ = *spared_slot_;
    }
    if (failure_) {
        // Moved: a trace that another one shares would be copied for the next line.
        error failure = *std::exchange(failure_, std::nullopt);
        charge_.set(memory_, 0);
        if (label_.empty()) return failure;
        return with_outer_line(std::move(failure), label_ + " " + std::to_string(failed_slot_ + 1));
    }
    if (wants_one()) return outcome_of_losers();
    if (slots_ != 0) (void)place_of(slots_ - 1);
    return results_.window(0, slots_);
}

/// The last error with the others as its causes; without any error the last FAILED result.
result<value> join::outcome_of_losers() const {
    if (losers_.empty()) return failed_result_;
    std::optional<error> chain;
    for (const error& each : losers_) {
        if (!chain) chain = each;
        else chain = error(each).with_last_cause(*std::move(chain));
    }
    return *std::move(chain);
}

} // namespace heddle::lang
