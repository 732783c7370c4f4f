// What `spawn` returns.
#pragma once

#include "fiber_queue.hpp"

#include <heddle/lang/branch_group.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/fiber.hpp>

#include <optional>
#include <vector>

namespace heddle::lang {

/// A computation that runs beside the one that started it, and its end. Its join, that of the scope
/// it was spawned in, ends it when the scope is left.
class future final : public host_object {
public:
    /// `outer`: the future that the spawning code is part of, or nil.
    /// `group`, `slot`: its place among the branches of its scope. `span`: of the `spawn`.
    future(host_ref<future> outer, value group, std::uint32_t slot, source_span span)
        : span_(span), depth_(outer ? outer->depth_ + 1 : 0), outer_(std::move(outer)),
          group_(std::move(group)), slot_(slot) {
        // The skew-binary jumps of Myers (1983): an ancestor is found in logarithmic time.
        const future* above = outer_.get();
        if (!above) return;
        const future* jump = above->jump_.get();
        jump_ = jump && jump->jump_ &&
                        above->depth_ - jump->depth_ == jump->depth_ - jump->jump_->depth_
                    ? jump->jump_
                    : outer_;
    }
    ~future() override;
    future(const future&) = delete;
    future& operator=(const future&) = delete;

    [[nodiscard]] std::string_view type_name() const noexcept override { return "future"; }
    [[nodiscard]] std::string describe() const override;
    void visit_values(value_visitor& visitor) const override {
        for (const value* held : {&outer_.as_value(), &jump_.as_value(), &group_, &value_})
            visitor.visit(*held);
        if (failure_) visit_error(visitor, *failure_);
    }

    [[nodiscard]] bool running() const noexcept { return state_ == state::running; }
    /// It was asked to end, but runs.
    [[nodiscard]] bool stopping() const noexcept { return stopping_ && running(); }
    /// Once it has ended: the value, or its error, for code in that scope.
    [[nodiscard]] result<value> outcome(const dynamic_scope& scope) const;

    /// Asks it to end; false when it has ended.
    bool cancel() noexcept;

    // how it ended; wakes all that wait
    void deliver(value v) noexcept;
    void fail(error failure) noexcept;
    void drop() noexcept; ///< cancelled

    /// The branch has become a fiber.
    void attach(fiber& self) noexcept { own_fiber_ = &self; }
    [[nodiscard]] fiber* own_fiber() const noexcept { return own_fiber_; }
    [[nodiscard]] const host_ref<future>& outer() const noexcept { return outer_; }
    /// Whether code in that scope is part of it.
    [[nodiscard]] bool is_around(const dynamic_scope& scope) const noexcept;

    [[nodiscard]] source_span span() const noexcept { return span_; }
    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
    /// Its end is known to the program from here on.
    void note_awaited() const noexcept {
        static_cast<branch_group*>(host_of(group_))->note_awaited(slot_);
    }

    void wait(fiber& self) noexcept { waiters_.push_back(self); }
    void forget(fiber& self) noexcept { waiters_.remove(self); }
    [[nodiscard]] const fiber_queue& waiters() const noexcept { return waiters_; }

    /// Whether a fiber can end only after the future that some code belongs to. If so, waiting for
    /// the fiber from that code would deadlock.
    enum class need : std::uint8_t {
        none,
        maybe, ///< it waits for a race, or for a tool or task, or a deadline ends one of the waits
        certain
    };
    /// The strongest need of `fibers`, for code that is about to wait for one of them on the stack
    /// of `self`.
    [[nodiscard]] static need needs(const std::vector<fiber*>& fibers, const fiber& self);

private:
    enum class state : std::uint8_t { running, done, failed, cancelled };
    void settle(state how) noexcept;
    void answer(fiber& waiting) const;

    state state_ = state::running;
    bool stopping_ = false;
    source_span span_;
    fiber* own_fiber_ = nullptr; ///< null while it runs on the stack of another
    std::size_t depth_;          ///< futures around it
    host_ref<future> outer_;
    host_ref<future> jump_; ///< one of those around it, see is_around
    value group_;
    std::uint32_t slot_;
    value value_;
    std::optional<error> failure_;
    heap_charge charge_; ///< of the failure
    fiber_queue waiters_;
};

} // namespace heddle::lang
