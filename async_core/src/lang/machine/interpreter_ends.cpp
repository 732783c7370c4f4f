// Ends that whole parts of the program come to: limits, cancellation.
#include "extents.hpp"
#include "interpreter.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/sandbox_policy.hpp>

namespace heddle::lang {

namespace {

/// Whether a `catch` of the frame covers its current instruction.
[[nodiscard]] bool catches(const frame& at) noexcept {
    const auto position = static_cast<std::uint32_t>(at.at - at.code->code.data() - 1);
    for (const handler& h : at.code->handlers) {
        if (!h.cleanup && position >= h.begin && position < h.end) return true;
    }
    return false;
}

} // namespace

/// Raises at a safe point. Drops what the fiber waited for or was about to start.
interpreter::next interpreter::stop(error failure) {
    if (f_.job_) failure = limit_at(std::move(failure), f_.job_->job->place());
    if (f_.cleanups_.empty()) f_.unwinding_end_ = cleanup_limits::never; // a new end
    forget_plans();
    if (failure.is_cancelled()) return unwind(std::move(failure).with_span(here()));
    if (f_.branches_.empty() && f_.group_.is_nil()) return raise(std::move(failure));
    failure = as_common_failure(std::move(failure));
    if (!f_.cleans_up()) {
        note_leaf_branch();
        // Ending the groups one by one, from the innermost outwards, would let other branches take
        // the permits that become free, and the groups would never be done.
        fail_outermost(failure);
        if (is_to_end()) return unwind(error::cancelled(cancel_reason::sibling).with_span(here()));
    }
    return unwind(std::move(failure));
}

/// Ends the outermost group that the failure of the running branch is certain to end: between the
/// two there is no matching `catch`, no future, no group that tolerates the failure, no cleanup and
/// no sandbox boundary. Cost: linear in the frames and branches that end with it.
void interpreter::fail_outermost(const error& failure) noexcept {
    const bool passes = passes_catches(failure);
    const value* const extent = extent_of(failure);
    if (extent && !host_as<sandbox_extent>(*extent)) return; // each branch checks its own deadline
    const auto& sandbox = f_.scope_->sandbox;
    join* found = nullptr;
    std::uint32_t found_slot = 0;
    const auto end_it = [&] {
        if (found) found->fail_all(found_slot, failure);
    };
    const fiber* at = &f_;
    std::size_t frames = f_.frames_.size(); // from here inwards they end
    std::size_t branches = f_.branches_.size();
    const auto is_caught = [&] {
        const std::size_t floor = branches == 0 ? 0 : at->branches_[branches - 1].first_frame;
        for (; frames > floor; --frames) {
            if (!passes && catches(at->frames_[frames - 1])) return true;
        }
        return false;
    };
    for (;;) {
        if (at->cleans_up() || is_caught()) return end_it();
        const bool on_own_stack = branches == 0;
        const inline_branch* inner = on_own_stack ? nullptr : &at->branches_[--branches];
        auto* group = static_cast<join*>(host_of(inner ? inner->group : at->group_));
        const std::uint32_t slot = inner ? inner->slot : at->slot_;
        if (!group || group->of_futures() || group->stopping()) return end_it();
        if (!passes && !group->fails_with_one()) return end_it();
        if (on_own_stack) {
            at = group->opener();
            if (!at) return end_it();
            frames = at->frames_.size();
            branches = at->branches_.size();
            // What opened it may run another one of its branches meanwhile.
            for (std::size_t k = branches; k != 0 && !inner; --k) {
                const inline_branch& each = at->branches_[k - 1];
                if (host_of(each.group) == group) inner = &each;
                else if (group->opened_in(each)) break;
                if (inner) branches = k - 1;
            }
            if (inner) frames = inner->first_frame;
            else if (branches != 0 && !group->opened_in(at->branches_.back())) return end_it();
        }
        if (!((inner ? inner->scope : at->scope_)->sandbox == sandbox)) return end_it();
        found = group;
        found_slot = slot;
    }
}

/// The failure of a branch at a limit that its siblings have reached too, or will.
error interpreter::as_common_failure(error failure) {
    const value* mark = extent_of(failure);
    const void* extent = mark ? host_of(*mark) : nullptr;
    auto& common = f_.realm_->common;
    if (common && common->extent == extent && common->failure.code() == failure.code() &&
        passes_catches(common->failure) == passes_catches(failure))
        return common->failure;
    failure = std::move(failure).with_span(here()).with_origin(error_origin::script);
    add_trace(failure);
    failure = made_complete(std::move(failure));
    common = realm::common_failure{extent, failure};
    return failure;
}

/// The branch that runs, or one around it on this stack, was asked to end.
bool interpreter::is_to_end() noexcept {
    return f_.cancel_requested() || some_branch_is_stopping(f_);
}

/// Such a fiber would go on, and start further branches, until its next turn.
bool interpreter::ends_with_others(fiber& self) noexcept {
    return self.cancel_requested() ||
           (some_branch_is_stopping(self) && self.stopping_at_ + 1 < self.branches_.size());
}

/// A branch that waits for its own branches stays on its parent's stack, with the parent waiting as
/// well, if the parent has to end too and at the memory limit: otherwise thousands of levels would
/// need a fiber each. The wait is short, because all of them have been asked to end.
bool interpreter::ends_as_a_whole() noexcept {
    if (f_.waits_ != waiting_for::children) return false;
    if (!static_cast<const join*>(host_of(f_.waits_on_))->stopping()) return false;
    if (memory_.over_limit() || f_.cancel_requested()) return true;
    return some_branch_is_stopping(f_) && f_.stopping_at_ == 0 && f_.branches_[0].future.is_nil();
}

} // namespace heddle::lang
