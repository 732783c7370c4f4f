// Groups that fail because one below them has failed.
#include "join.hpp"

#include <heddle/lang/code.hpp>

namespace heddle::lang {

namespace {

/// What an error of a branch looks at. Beyond that, the groups end one after the other.
constexpr std::size_t max_frames_looked_at = 10'000;

/// Whether an error that leaves the current instruction of the frame may not leave the frame.
[[nodiscard]] bool may_take_error(const frame& at) noexcept {
    const instruction* const code = at.code->code.data();
    const auto position = static_cast<std::uint32_t>(at.at - code - 1);
    for (const handler& h : at.code->handlers) {
        if (position < h.begin || position >= h.end) continue;
        if (!h.cleanup) return true;
        // A timeout with a fallback, the time of which may be over meanwhile.
        if (code[h.target].code == op::settings_leave && code[h.target + 1].code == op::jump_false)
            return true;
    }
    return false;
}

} // namespace

/// The first error of a branch has come. It is certain to fail the groups around this one as well,
/// up to a `catch`, a future, a group that tolerates it, or a cleanup. Their other branches end at
/// once: if each group were ended only when the error comes to it, others would begin meanwhile
/// with the permits that become free. Cost: linear in what ends, and bounded.
void join::end_what_fails_too() const noexcept {
    std::size_t left = max_frames_looked_at;
    for (const join* inner = this;;) {
        const fiber* const at = inner->opener_;
        if (!at || at->cleans_up() || at->cancel_requested()) return;
        std::size_t k = at->branches_.size();
        while (k != 0 && at->branches_[k - 1].first_frame >= inner->opened_at_) --k;
        const inline_branch* const own = k == 0 ? nullptr : &at->branches_[k - 1];
        auto* const group = static_cast<join*>(host_of(own ? own->group : at->group_));
        if (!group || group->stopping_ || !group->fails_with_one()) return;
        const std::size_t floor = own ? own->first_frame : 0;
        for (std::size_t depth = inner->opened_at_; depth > floor; --depth) {
            if (left-- == 0 || may_take_error(at->frames_[depth - 1])) return;
        }
        group->expect_failure(own ? own->slot : at->slot_, own ? nullptr : at);
        inner = group;
    }
}

/// All branches but the one of that slot end. `self`: its fiber, or null while it runs on the stack
/// of what opened the group.
void join::expect_failure(std::uint32_t slot, const fiber* self) noexcept {
    constexpr cancel_reason reason = cancel_reason::sibling;
    fiber* waiting = nullptr;
    stopping_ = true;
    spared_slot_ = slot;
    note_stop();
    ask_fibers(reason, cleanup_limits::never, waiting, self);
    if (self) ask_below_inline(reason, cleanup_limits::never, waiting);
    wake_starter();
    fiber::ask_branches(waiting);
}

} // namespace heddle::lang
