#include "permit_waits.hpp"

#include "future.hpp"
#include "semaphore.hpp"

#include <heddle/lang/call_site.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t max_visited = 1000; ///< branches, in one search upwards or downwards

[[nodiscard]] double deadline_of(const fiber& self) {
    return self.deadline().value_or(std::numeric_limits<double>::infinity());
}

/// Adds the last ones, as many as can be looked at.
void add_last(std::vector<fiber*>& work, const std::vector<fiber*>& more, std::size_t left) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(left, more.size()));
    work.insert(work.end(), more.end() - count, more.end());
}

} // namespace

/// The branch that runs on its stack, or that it is.
branch_place permit_waits::place_now(const fiber& self) {
    if (self.branches_.empty()) return place_of(self);
    return {self.branches_.back().group, self.branches_.back().slot};
}

/// Calls `use` with what waits for permits, of those fibers and of what they wait for, until that
/// returns false.
template <class Use>
void permit_waits::each_permit_wait(std::vector<fiber*> work, std::size_t& left, Use use) {
    while (!work.empty() && left != 0) {
        fiber* next = work.back();
        work.pop_back();
        if (!next) continue;
        --left;
        if (next->waits_ == waiting_for::future)
            work.push_back(static_cast<const future*>(host_of(next->waits_on_))->own_fiber());
        else if (next->waits_ == waiting_for::children)
            add_last(work, static_cast<const join*>(host_of(next->waits_on_))->children(), left);
        else if (next->waits_ == waiting_for::permit && !use(*next)) return;
    }
}

/// From a branch upwards: what cannot end before it.
class permit_waits::search {
public:
    /// `left`: branches to look at. `parking`: a race whose opener waits for it or is about to, or
    /// null.
    search(std::size_t& left, const join* parking) noexcept : left_(left), parking_(parking) {}

    /// What is to be done about a wait of `self` for that semaphore.
    [[nodiscard]] permit_verdict run(fiber& self, const semaphore& wanted) {
        // One is being handed over, or some holders are out of reach.
        if (!wanted.all_held() || wanted.holders() > left_) return {};
        wanted_ = &wanted;
        until_ = deadline_of(self);
        add(self, nullptr, true);
        climb_all();
        return verdict(self);
    }
    /// Finds all that may be unable to end before `self`.
    void reach(const fiber& self) {
        exact_ = false;
        add(self, nullptr, true);
        climb_all();
    }
    /// Whether the end of that future needs that of `self`, or of what awaits the future already.
    [[nodiscard]] bool reaches(const fiber& self, const future& awaited) {
        target_ = &awaited;
        until_ = deadline_of(self);
        add(self, nullptr, false);
        add_waiters(awaited);
        climb_all();
        return target_reached_;
    }
    /// After reaches() was true: what awaits what on the way there, from the end.
    [[nodiscard]] std::vector<circle_member> way() const {
        std::vector<circle_member> members;
        for (std::size_t k = found_at_; k != none; k = waiting_[k].from) {
            const node& at = waiting_[k];
            if (at.awaits) members.push_back({at.awaits, at.awaiter});
        }
        return members;
    }
    void ignore_deadlines() noexcept { exact_ = false; }
    /// The `await` by which the last branch of the race was found that cannot end before `self`.
    [[nodiscard]] fiber* stuck_await_of(const fiber& self) {
        until_ = deadline_of(self);
        add(self, nullptr, false);
        climb_all();
        return stuck_await_;
    }
    [[nodiscard]] bool reaches_holder(const semaphore& wanted) const noexcept {
        return wanted.is_held_by_any(known_);
    }

private:
    struct node {
        branch_place place;
        const future* spawned; ///< the innermost one that it is part of
        const call_site* called_by;
        fiber* awaiter;                 ///< by whose `await` it was reached last, or null
        bool own;                       ///< the branch itself is a part of it
        bool needed;                    ///< what it is part of needs its end
        std::size_t from = none;        ///< the one that led to it, in waiting_
        const future* awaits = nullptr; ///< by whose `await` that led to it
    };
    static constexpr std::size_t none = SIZE_MAX;

    void add(const fiber& self, fiber* awaiter, bool own, const future* awaits = nullptr) {
        const dynamic_scope& scope = *self.scope();
        node next{place_now(self), scope.spawned.get(), scope.called_by.get(), awaiter, own, true};
        next.awaits = awaits;
        add(std::move(next));
    }

    void add(node next) {
        if (left_ == 0 || !known_.insert(semaphore::key_of(next.place)).second) return;
        --left_;
        next.from = climbs_;
        waiting_.push_back(std::move(next));
    }

    void climb_all() {
        for (std::size_t k = 0; k < waiting_.size() && left_ != 0 && !target_reached_; ++k) {
            node at = waiting_[k];
            at.awaits = nullptr;
            climbs_ = k;
            climb(at);
            if (target_reached_) found_at_ = k;
        }
    }

    void climb(const node& at) {
        const auto* group = static_cast<const join*>(host_of(at.place.group));
        if (!group) {
            const call_site* site = at.called_by;
            if (!site || (exact_ && !at.own && site->ends_alone)) return;
            add({site->place, site->spawned.get(), site->outer.get(), at.awaiter, at.own,
                 at.needed});
        } else if (group->of_futures()) {
            climb_future(at, *group);
        } else if (group->needs_all() || !exact_ || at.own || ends_never(*group)) {
            if (group == parking_) stuck_await_ = at.awaiter;
            // The end of a race ends the branch itself, but not a future that a branch awaits.
            node outer = at;
            outer.place = group->outer();
            outer.needed = at.needed && (group->needs_all() || !at.own);
            add(std::move(outer));
        }
    }

    /// To what awaits the future and, where the function that spawned it is left, to that.
    void climb_future(const node& at, const join& group) {
        if (!at.spawned) return;
        target_reached_ = target_reached_ || at.spawned == target_;
        if (group.stopping()) {
            node outer = at;
            outer.place = group.outer();
            outer.spawned = at.spawned->outer().get();
            add(std::move(outer));
        }
        if (!at.needed) of_race_ = true;
        add_waiters(*at.spawned);
    }

    void add_waiters(const future& awaited) {
        for (fiber* each = awaited.waiters().first(); each; each = fiber_queue::after(*each)) {
            if (left_ == 0) return;
            if (!exact_ || deadline_of(*each) == until_) add(*each, each, false, &awaited);
            else --left_;
        }
    }

    /// One more branch of that race cannot end. Whether all are found.
    [[nodiscard]] bool ends_never(const join& race) {
        if (race.stopping() || !(race.parked() || &race == parking_)) return false;
        const std::size_t found = ++stuck_[&race];
        if (found == race.living()) return true;
        if (found == 1 && wanted_) look_below(race);
        return false;
    }

    /// Its other branches may need the same semaphore through other futures.
    void look_below(const join& race) {
        std::vector<fiber*> branches;
        add_last(branches, race.children(), left_);
        each_permit_wait(std::move(branches), left_, [&](fiber& found) {
            if (found.waits_scope_ == wanted_ && deadline_of(found) == until_)
                add(found, nullptr, false);
            return true;
        });
    }

    [[nodiscard]] permit_verdict verdict(fiber& self) const {
        std::size_t found = 0;
        fiber* awaiter = nullptr;
        for (const node& each : waiting_) {
            if (!wanted_->is_held_by(each.place)) continue;
            ++found;
            if (!awaiter) awaiter = each.awaiter;
        }
        if (found < wanted_->holders()) return {};
        // A branch of a race fails alone: the race may go on without it.
        if (!awaiter || of_race_) return {permit_verdict::kind::hopeless, &self, wanted_};
        return {permit_verdict::kind::awaited_by, awaiter, wanted_};
    }

    std::size_t& left_;
    const join* parking_;
    const semaphore* wanted_ = nullptr;
    const future* target_ = nullptr;
    bool target_reached_ = false;
    std::size_t climbs_ = none;    ///< whose surroundings are added, in waiting_
    std::size_t found_at_ = none;  ///< by which the target was reached
    fiber* stuck_await_ = nullptr; ///< see stuck_await_of
    bool exact_ = true;            ///< races and deadlines count
    double until_ = 0;
    bool of_race_ = false; ///< the branch is a part of one, inside of its future
    std::vector<node> waiting_;
    semaphore::branch_set known_;                        ///< those of waiting_
    std::unordered_map<const join*, std::size_t> stuck_; ///< branches of races
};

permit_verdict permit_waits::of(fiber& self, const semaphore& wanted) {
    std::size_t left = max_visited;
    return search(left, nullptr).run(self, wanted);
}

bool permit_waits::needed_by(const fiber& self, const future& awaited) {
    std::size_t left = max_visited;
    return search(left, nullptr).reaches(self, awaited);
}

std::vector<permit_waits::circle_member> permit_waits::circle(const fiber& self,
                                                              const future& awaited) {
    std::vector<circle_member> members{{&awaited, &self}};
    for (const bool exact : {true, false}) {
        std::size_t left = max_visited;
        search found(left, nullptr);
        if (!exact) found.ignore_deadlines();
        if (!found.reaches(self, awaited)) continue;
        const std::vector<circle_member> others = found.way();
        members.insert(members.end(), others.begin(), others.end());
        break;
    }
    return members;
}

fiber* permit_waits::stuck_await(const fiber& self, const join& race) {
    std::size_t left = max_visited;
    return search(left, &race).stuck_await_of(self);
}

std::vector<permit_verdict> permit_waits::below(const fiber& self, const future& awaited) {
    return below(self, {awaited.own_fiber()}, nullptr);
}

std::vector<permit_verdict> permit_waits::below(const fiber& self, const join& race) {
    std::vector<fiber*> branches;
    add_last(branches, race.children(), max_visited);
    return below(self, std::move(branches), &race);
}

std::vector<permit_verdict> permit_waits::below(const fiber& self, std::vector<fiber*> work,
                                                const join* race) {
    std::vector<permit_verdict> found;
    std::size_t left_below = max_visited;
    std::size_t left_around = max_visited;
    std::size_t left = max_visited;
    std::optional<search> around;
    each_permit_wait(std::move(work), left_below, [&](fiber& waiting) {
        const auto* wanted = dynamic_cast<const semaphore*>(waiting.waits_scope_);
        if (!wanted) return true;
        // Only what waits for the end of this wait can be the reason.
        if (!around) around.emplace(left_around, nullptr).reach(self);
        if (!around->reaches_holder(*wanted)) return true;
        const permit_verdict each = search(left, race).run(waiting, *wanted);
        if (each.what != permit_verdict::kind::may_end) found.push_back(each);
        return each.what != permit_verdict::kind::awaited_by;
    });
    return found;
}

} // namespace heddle::lang
