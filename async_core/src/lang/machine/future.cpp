#include "future.hpp"

#include "escaping_error.hpp"
#include "extents.hpp"
#include "join.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/sandbox_policy.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

constexpr std::size_t max_visited = 1000; ///< fibers, in the search for a cycle

} // namespace

future::~future() {
    auto* group = static_cast<join*>(host_of(group_));
    group->forget_spawn(group->memory(), slot_);
}

std::string future::describe() const {
    switch (state_) {
    case state::running: return "future, running";
    case state::done: return "future, done";
    case state::failed: return "future, failed";
    case state::cancelled: return "future, cancelled";
    }
    return "future";
}

result<value> future::outcome(const dynamic_scope& scope) const {
    switch (state_) {
    case state::failed: {
        // An extent that the waiting code is not part of has ended for it long since.
        const value* mark = extent_of(*failure_);
        if (mark && !scope.is_inside(*mark)) return with_extent(*failure_, {});
        return *failure_;
    }
    case state::cancelled: return error(errc::evaluation, "await: the future was cancelled");
    default: return value_;
    }
}

bool future::cancel() noexcept {
    if (!running()) return false;
    stopping_ = true;
    static_cast<join*>(host_of(group_))->note_stop();
    if (own_fiber_) own_fiber_->request_cancel(cancel_reason::sibling);
    return true;
}

void future::deliver(value v) noexcept {
    value_ = std::move(v);
    settle(state::done);
}

void future::fail(error failure) noexcept {
    try {
        failure_ = kept_apart(with_outer_line(std::move(failure), "in a spawned computation"));
    } catch (...) {
        failure_ = error_of_exception("a spawned computation");
    }
    charge_.set(static_cast<join*>(host_of(group_))->memory(), footprint(*failure_));
    // What ends a sandbox ends it even if nothing awaits the future.
    if (const value* mark = extent_of(*failure_)) {
        if (auto* ended = host_as<sandbox_extent>(*mark)) {
            try {
                heap& memory = static_cast<join*>(host_of(group_))->memory();
                ended->end_with(without_references(memory, *failure_));
            } catch (...) {
                ended->end_with(error_of_exception("a spawned computation"));
            }
        }
    }
    settle(state::failed);
}

void future::drop() noexcept { settle(state::cancelled); }

void future::answer(fiber& waiting) const {
    auto ended = outcome(*waiting.scope_);
    if (ended) waiting.stack_[waiting.result_slot_] = *std::move(ended);
    else waiting.incoming_ = std::move(ended).error();
}

void future::settle(state how) noexcept {
    state_ = how;
    own_fiber_ = nullptr;
    outer_ = {};
    jump_ = {};
    while (fiber* waiting = waiters_.first()) {
        waiters_.remove(*waiting);
        try {
            answer(*waiting);
        } catch (...) {
            waiting->incoming_ = error_of_exception("await");
        }
        waiting->waits_ = waiting_for::nothing;
        waiting->waits_on_.set_nil(); // not the last reference: the branch that ends has one
        if (waiting->driver) waiting->driver->wake(*waiting);
    }
}

bool future::is_around(const dynamic_scope& scope) const noexcept {
    const future* at = scope.spawned.get();
    while (at && at->depth_ > depth_) {
        const future* jump = at->jump_.get();
        at = jump && jump->depth_ >= depth_ ? jump : at->outer_.get();
    }
    return at == this;
}

future::need future::needs(const std::vector<fiber*>& fibers, const fiber& self) {
    const dynamic_scope& scope = *self.scope();
    if (!scope.spawned) return need::none;
    const std::optional<double> until = self.deadline();
    need found = need::none;
    std::vector<fiber*> work(
        fibers.end() - static_cast<std::ptrdiff_t>(std::min(fibers.size(), max_visited)),
        fibers.end());
    for (std::size_t looked_at = 0; !work.empty() && looked_at < max_visited; ++looked_at) {
        fiber* next = work.back();
        work.pop_back();
        if (!next) continue;
        if (next->waits_ == waiting_for::future) {
            const auto* awaited = static_cast<const future*>(host_of(next->waits_on_));
            // Who waits less long than the others ends the circle.
            if (next->deadline() != until) {
                found = need::maybe;
                continue;
            }
            if (awaited->is_around(scope)) return need::certain;
            work.push_back(awaited->own_fiber());
        } else if (next->waits_ == waiting_for::children) {
            const auto* group = static_cast<const join*>(host_of(next->waits_on_));
            // Of a race one branch is enough, so no single one is needed.
            if (!group->needs_all()) {
                found = need::maybe;
                continue;
            }
            const std::vector<fiber*>& more = group->children(); // of which the last are looked at
            const std::size_t count = std::min(more.size(), max_visited - looked_at);
            work.insert(work.end(), more.end() - static_cast<std::ptrdiff_t>(count), more.end());
        } else if (next->waits_ == waiting_for::effect && next->request_ && !next->request_->row) {
            found = need::maybe; // a tool's code runs in another fiber
        }
    }
    return found;
}

} // namespace heddle::lang
