#include "permit_waits.hpp"

#include "future.hpp"
#include "semaphore.hpp"

#include <heddle/lang/call_site.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace heddle::lang {

namespace {

constexpr std::size_t most_looked_at = 1000; ///< branches, in one search for holders
constexpr std::size_t most_below = 256;      ///< fibers, in the search for those that wait

[[nodiscard]] double deadline_of(const fiber& self) {
    return self.deadline().value_or(std::numeric_limits<double>::infinity());
}

} // namespace

/// The branch that runs on its stack, or that it is.
branch_place permit_waits::place_now(const fiber& self) {
    if (self.branches_.empty()) return place_of(self);
    return {self.branches_.back().group, self.branches_.back().slot};
}

/// From a branch upwards: what cannot end before it.
class permit_waits::search {
public:
    explicit search(std::size_t& left) noexcept : left_(left) {}

    [[nodiscard]] permit_verdict run(const fiber& self, const semaphore& wanted) {
        if (!wanted.all_held()) return {}; // one is being handed over
        until_ = deadline_of(self);
        add(self, nullptr, true);
        for (std::size_t k = 0; k < waiting_.size(); ++k) {
            if (left_ == 0) return {};
            --left_;
            const node at = waiting_[k];
            climb(at);
        }
        return verdict(wanted);
    }

private:
    struct node {
        branch_place place;
        const future* spawned; ///< the innermost one that it is part of
        const call_site* called_by;
        fiber* awaiter; ///< by whose `await` it was reached last, or null
        bool needed;    ///< what it is part of needs its end
    };

    void add(const fiber& self, fiber* awaiter, bool needed) {
        const dynamic_scope& scope = *self.scope();
        add({place_now(self), scope.spawned.get(), scope.called_by.get(), awaiter, needed});
    }

    void add(node next) {
        const bool known = std::any_of(waiting_.begin(), waiting_.end(), [&](const node& each) {
            return semaphore::same(each.place, next.place);
        });
        if (!known) waiting_.push_back(std::move(next));
    }

    void climb(node at) {
        const auto* group = static_cast<const join*>(host_of(at.place.group));
        if (!group) {
            const call_site* site = at.called_by;
            if (site)
                add({site->place, site->spawned.get(), site->outer.get(), at.awaiter, at.needed});
        } else if (!group->of_futures()) {
            const bool needed = at.needed && group->needs_all();
            // The end of a race ends a branch of it, but not a future that one awaits.
            if (needed || !at.awaiter)
                add({group->outer(), at.spawned, at.called_by, at.awaiter, needed});
        } else if (at.spawned) {
            if (!at.needed) of_race_ = true;
            for (fiber* each : at.spawned->waiters()) {
                if (deadline_of(*each) == until_) add(*each, each, true);
            }
        }
    }

    [[nodiscard]] permit_verdict verdict(const semaphore& wanted) const {
        std::size_t found = 0;
        fiber* awaiter = nullptr;
        for (const node& each : waiting_) {
            if (!wanted.is_held_by(each.place)) continue;
            ++found;
            if (!awaiter) awaiter = each.awaiter;
        }
        if (found < wanted.holders()) return {};
        // A branch of a race fails alone: the race may go on without it.
        if (!awaiter || of_race_) return {permit_verdict::kind::hopeless, nullptr};
        return {permit_verdict::kind::awaited_by, awaiter};
    }

    std::size_t& left_;
    double until_ = 0;
    bool of_race_ = false; ///< the branch is a part of one, inside of its future
    std::vector<node> waiting_;
};

permit_verdict permit_waits::of(const fiber& self, const semaphore& wanted) {
    std::size_t left = most_looked_at;
    return search(left).run(self, wanted);
}

permit_verdict permit_waits::below(const future& awaited, const semaphore*& wanted) {
    std::size_t left = most_looked_at;
    std::vector<const fiber*> work{awaited.own_fiber()};
    for (std::size_t looked_at = 0; !work.empty() && looked_at < most_below; ++looked_at) {
        const fiber* next = work.back();
        work.pop_back();
        if (!next) continue;
        if (next->waits_ == waiting_for::future) {
            work.push_back(static_cast<const future*>(host_of(next->waits_on_))->own_fiber());
        } else if (next->waits_ == waiting_for::children) {
            const auto* group = static_cast<const join*>(host_of(next->waits_on_));
            if (group->needs_all())
                work.insert(work.end(), group->children().begin(), group->children().end());
        } else if (next->waits_ == waiting_for::permit) {
            const auto* held = dynamic_cast<const semaphore*>(next->waits_scope_);
            if (!held) continue;
            const permit_verdict found = search(left).run(*next, *held);
            if (found.what != permit_verdict::kind::awaited_by) continue;
            wanted = held;
            return found;
        }
    }
    return {};
}

} // namespace heddle::lang
