// Groups of branches, and the bound on how many run.
#pragma once

#include "fiber_queue.hpp"
#include "join_policy.hpp"

#include <heddle/lang/branch_group.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/fiber.hpp>
#include <heddle/lang/heap.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::lang {

/// At most `limit` branches run or wait for the outside at a time; nested groups under one scope
/// share it. A branch that waits for nested branches releases its permit meanwhile, so nesting
/// cannot deadlock. First come, first served.
class concurrency_scope : public host_object {
public:
    explicit concurrency_scope(std::size_t limit) : limit_(limit) {}

    [[nodiscard]] std::string_view type_name() const noexcept override {
        return "concurrency-scope";
    }
    [[nodiscard]] bool try_acquire() noexcept {
        if (running_ >= limit_) return false;
        ++running_;
        return true;
    }
    void release() noexcept {
        if (queue_.empty()) --running_;
        else hand_over();
    }
    /// Parks a fiber until a permit is handed to it (fiber::granted_).
    void wait(fiber& self) noexcept;
    /// Takes a fiber that waits out of the queue.
    void forget(fiber& self) noexcept { queue_.remove(self); }
    /// `fiber` waits in the place of `other`.
    void replace(fiber& other, fiber& self) noexcept;
    [[nodiscard]] std::size_t running() const noexcept { return running_; }
    [[nodiscard]] std::size_t limit() const noexcept { return limit_; }

private:
    void hand_over() noexcept; ///< a released permit, to the first in the queue

    std::size_t limit_;
    std::size_t running_ = 0;
    fiber_queue queue_;
};

/// The branches of one map, parallel, race …. Lives in a register of the frame that opened it.
class join final : public branch_group {
public:
    join(realm& realm, std::size_t slots, join_policy policy, std::string label,
         host_ref<concurrency_scope> scope);
    ~join() override;
    join(const join&) = delete;
    join& operator=(const join&) = delete;

    [[nodiscard]] std::string_view type_name() const noexcept override { return type_tag; }
    static constexpr std::string_view type_tag = "join";
    void visit_values(value_visitor& visitor) const override;

    /// A branch ended with a value, or failed. Without the memory to note that, all of it fails.
    void deliver(std::uint32_t slot, value v) noexcept;
    void fail(std::uint32_t slot, error failure) noexcept;
    /// All of it fails, whatever the policy.
    void fail_all(std::uint32_t slot, error failure) noexcept;

    /// So that the next add() needs no memory.
    void make_room() {
        if (children_.size() == children_.capacity()) children_.reserve(children_.size() * 2 + 1);
    }
    void add(fiber& child) noexcept;
    /// A branch that was a fiber has ended, however.
    void remove(fiber& child);
    /// Asks all living children to end; no further branch is started.
    /// `end`: when their cleanups must be over, see fiber::request_cancel.
    void cancel(cancel_reason reason, double end = cleanup_limits::never) noexcept;
    /// Something waits for the end of a cleanup that opened it: its branches end by then.
    void end_cleanups_by(double end) noexcept;

    /// No further branch is to be started: failed, decided or cancelled.
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    /// Whether that branch is to end for this.
    [[nodiscard]] bool stops(std::uint32_t slot) const noexcept {
        return stopping_ && spared_slot_ != slot;
    }
    [[nodiscard]] heap& memory() noexcept { return memory_; }
    [[nodiscard]] std::size_t living() const noexcept { return children_.size(); }
    [[nodiscard]] concurrency_scope* scope() const noexcept { return scope_.get(); }
    [[nodiscard]] const std::vector<fiber*>& children() const noexcept { return children_; }
    /// Its end needs the end of every branch.
    [[nodiscard]] bool needs_all() const noexcept {
        return policy_ == join_policy::all || policy_ == join_policy::settled;
    }
    /// The failure of one branch fails the group.
    [[nodiscard]] bool fails_with_one() const noexcept { return policy_ == join_policy::all; }
    /// It is a call of map or map-settled.
    [[nodiscard]] bool is_map() const noexcept {
        return policy_ == join_policy::settled || (needs_all() && label_ == map_label);
    }
    static constexpr std::string_view map_label = "while mapping item"; ///< in the prelude
    /// Of a group that needs all its branches: how many there are, and have ended.
    [[nodiscard]] std::size_t slots() const noexcept;
    [[nodiscard]] std::size_t ended() const noexcept { return ended_; }
    [[nodiscard]] std::size_t failed() const noexcept { return failed_; }
    /// Its branches are futures, for which what opened it need not wait.
    [[nodiscard]] bool of_futures() const noexcept { return policy_ == join_policy::futures; }
    void park(fiber& self) noexcept { parked_ = &self; }
    /// The wait for its end is over.
    void unpark() noexcept { parked_ = nullptr; }
    /// What opened it waits for its branches, and begins no further ones.
    [[nodiscard]] bool parked() const noexcept { return parked_ != nullptr; }
    /// The part of cancel() that concerns the branches themselves: those that wait for branches of
    /// their own are put before `waiting` (fiber::ask_branches).
    void ask_children(cancel_reason reason, double end, fiber*& waiting) noexcept;
    /// The fiber that opens it waits for a permit, to start the next branch.
    void await_permit(fiber& starter) noexcept { starter_ = &starter; }
    void permit_awaited() noexcept { starter_ = nullptr; }
    /// The frame of `fiber` at that depth has opened it: an end of the fiber is one of its branches
    /// too.
    void opened_by(fiber& self, std::size_t depth) noexcept;
    /// Moves the groups that the branch has opened on the stack of `parent` to `child`.
    static void pass_opened(fiber& parent, const inline_branch& branch, fiber& child) noexcept;
    /// Nothing opens it any more.
    void not_opened() noexcept;
    [[nodiscard]] fiber* opener() const noexcept { return opener_; }
    /// The group that a frame of the same fiber opened before it.
    [[nodiscard]] join* opened_before() const noexcept { return opened_before_; }
    [[nodiscard]] bool opened_in(const inline_branch& branch) const noexcept {
        return outer().group.identical(branch.group) && outer().slot == branch.slot;
    }
    /// Whether its branches are to end as soon as what opened it is asked to. Cleanup code of the
    /// program may need those that it has begun, and may await futures.
    [[nodiscard]] bool ends_with_opener() const noexcept;
    /// Asks the branches that are fibers to end, because what opened it is to end. Further ones may
    /// begin: a cleanup of what opened it may need them. As ask_children otherwise.
    /// `spared`: one of them that is not asked.
    void ask_fibers(cancel_reason reason, double end, fiber*& waiting,
                    const fiber* spared = nullptr) noexcept;
    /// One of its branches begins or ends on the stack of `fiber`. As a rule that opened it; a
    /// spawn in a named let that others call may begin several, on several stacks.
    void begins_on(fiber& self) {
        if (inline_on_) more_inline_on_.push_back(&self);
        else inline_on_ = &self;
    }
    void ends_on(const fiber& self) noexcept;
    /// So that the next begins_on() needs no memory.
    void make_inline_room() {
        if (inline_on_) more_inline_on_.reserve(more_inline_on_.size() + 1);
    }
    /// One of its branches is asked to end.
    void note_stop() noexcept;
    /// Branch 1 of a hedge has begun its work.
    void note_second_run() noexcept { second_run_ = true; }

    /// No child lives, and what opened it goes on.
    void notify_ended() {
        if (!data || std::exchange(notified_, true)) return;
        data->group_ended(wants_one() && winner_ ? std::optional(winner_slot_) : std::nullopt);
    }

    /// Once no child lives: whether outcome() is an error.
    [[nodiscard]] bool has_failed() const noexcept {
        return !winner_ && (failure_ || !losers_.empty());
    }
    /// Once no child lives: the value, or the error to raise.
    [[nodiscard]] result<value> outcome();

private:
    void stop(cancel_reason reason, double end = cleanup_limits::never) noexcept;
    void ask_below_inline(cancel_reason reason, double end, fiber*& waiting) noexcept;
    void wake_starter() noexcept;
    void end_what_fails_too() const noexcept;
    void expect_failure(std::uint32_t slot, const fiber* self) noexcept;
    [[nodiscard]] bool wants_one() const noexcept {
        return policy_ == join_policy::first || policy_ == join_policy::hedge;
    }
    void deliver_value(std::uint32_t slot, value v);
    void deliver_failure(std::uint32_t slot, error failure);
    void note_loss(std::uint32_t slot) noexcept;
    [[nodiscard]] value& place_of(std::size_t slot) noexcept;
    [[nodiscard]] result<value> outcome_of_losers() const;

    realm& realm_;
    heap& memory_;
    join_policy policy_;
    std::string label_;
    host_ref<concurrency_scope> scope_;
    std::size_t slots_;
    value results_;            ///< a list of the slots up to the last that has ended
    std::uint32_t ended_ = 0;  ///< of these
    std::uint32_t failed_ = 0; ///< of the ended ones; they are settled
    std::vector<fiber*> children_;
    fiber* parked_ = nullptr;
    fiber* starter_ = nullptr;
    fiber* opener_ = nullptr; ///< see opened_by
    join* opened_before_ = nullptr;
    join* opened_after_ = nullptr;
    fiber* inline_on_ = nullptr; ///< see begins_on
    std::vector<fiber*> more_inline_on_;
    std::optional<error> failure_;
    std::uint32_t failed_slot_ = 0;
    std::optional<std::uint32_t> spared_slot_; ///< of the branch that is certain to fail it
    std::optional<value> winner_;
    std::uint32_t winner_slot_ = 0;
    std::vector<error> losers_; ///< the last ones
    value failed_result_;       ///< the last FAILED result, or nil
    heap_charge charge_;        ///< of its errors
    bool second_run_ = false;
    bool stopping_ = false;
    bool notified_ = false;     ///< the host: of its end
    std::size_t opened_at_ = 0; ///< by the frame of opener_ at that depth
};

/// An error on its way through cleanups and to catch clauses.
class caught_error final : public host_object {
public:
    caught_error(heap& memory, error e) : failure(kept_apart(std::move(e))) {
        charge_.set(memory, footprint(failure));
    }
    [[nodiscard]] std::string_view type_name() const noexcept override { return "error"; }
    void visit_values(value_visitor& visitor) const override { visit_error(visitor, failure); }
    error failure;

private:
    heap_charge charge_;
};

} // namespace heddle::lang
