// Slices, waiting, branches and joins.
#include "future.hpp"
#include "interpreter.hpp"
#include "pending_job.hpp"
#include "permit_waits.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

// How a branch starts (branch_call, x).
constexpr std::uint8_t unbounded = 1; ///< with its parent's permit, or without one
constexpr std::uint8_t spawned = 2;   ///< so too, and its end goes to a future
/// Bytes beyond the memory limit, besides a quarter of it, up to which its error can be caught:
/// what a slice may take under a small limit.
constexpr std::size_t max_beyond_memory_limit = std::size_t{1} << 20;

} // namespace

permit& interpreter::current_permit() noexcept {
    return f_.branches_.empty() ? f_.permit_ : f_.branches_.back().permit;
}

/// Numbers a step of the branch that the next instruction belongs to.
std::uint32_t interpreter::next_ordinal() noexcept {
    return f_.branches_.empty() ? f_.next_ordinal_++ : f_.branches_.back().next_ordinal++;
}

/// The branch that the next instruction belongs to.
branch_place interpreter::running_branch() const {
    if (f_.branches_.empty()) return place_of(f_);
    return {f_.branches_.back().group, f_.branches_.back().slot};
}

bool interpreter::some_branch_is_stopping(fiber& self) noexcept {
    // Thousands of branches may stand on one stack: they are looked at when one of them was asked.
    const auto& branches = self.branches_;
    if (self.stopping_at_ < branches.size()) return true;
    self.stopping_at_ = fiber::none;
    if (!std::exchange(self.stop_noted_, false)) return false;
    const auto found = std::find_if(branches.begin(), branches.end(), [](const inline_branch& b) {
        const auto* answer = static_cast<const future*>(host_of(b.future));
        return static_cast<const join*>(host_of(b.group))->stops(b.slot) ||
               (answer && answer->stopping());
    });
    if (found == branches.end()) return false;
    self.stopping_at_ = static_cast<std::size_t>(found - branches.begin());
    return true;
}

/// A branch begins on this stack.
void interpreter::begin_inline(inline_branch branch) {
    auto* group = static_cast<join*>(host_of(branch.group));
    if (f_.branches_.size() == f_.branches_.capacity())
        f_.branches_.reserve(f_.branches_.size() * 2 + 1);
    if (f_.stopping_at_ >= f_.branches_.size()) f_.stopping_at_ = fiber::none;
    group->begins_on(f_);
    f_.branches_.push_back(std::move(branch));
}

/// The innermost branch of that stack is none of its branches any more.
inline_branch interpreter::take_inline(fiber& self) noexcept {
    inline_branch taken = std::move(self.branches_.back());
    self.branches_.pop_back();
    static_cast<join*>(host_of(taken.group))->ends_on(self);
    return taken;
}

/// Releases a permit that was handed over and is not wanted any more.
void interpreter::drop_grant() noexcept {
    if (f_.granted_) std::exchange(f_.granted_, nullptr)->release();
}

/// True when a permit of `scope` was handed over while the fiber waited.
bool interpreter::take_grant(const concurrency_scope* scope) noexcept {
    if (f_.granted_ != scope || !scope) return false;
    f_.granted_ = nullptr;
    return true;
}

/// At the start and at the end of a slice: limits, cancellation, and more fuel.
interpreter::next interpreter::check_slice() {
    settle_steps();
    memory_.begin_turn();
    sandbox_policy* const bounds = limits();
    set_memory_limit();
    if (slice_ == 0) {
        out_.kind = outcome_kind::out_of_steps;
        return next::leave;
    }
    // Not inside a sandbox: its limit would count as free what was charged before it began.
    if (!bounds && f_.first_call_ < 0) f_.give_back_spare();
    // A safe point counts as one step, so a slice of n runs n of them.
    const auto refill = [&] {
        const bool borrowed = budget_.steps == 0 && f_.cancellation_masked();
        std::uint64_t left = borrowed ? budget_.cleanup_steps : budget_.steps;
        if (bounds && !f_.cancellation_masked()) left = std::min(left, bounds->steps_left());
        given_ = fuel_ = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(slice_, std::max<std::uint64_t>(1, left)));
        const std::uint64_t units = std::min(left, work_meter::units_of_a_turn);
        work_.begin(units * work_meter::units_of_a_step);
    };
    refill();
    if (!f_.cancellation_masked()) {
        if (f_.cancel_requested()) return stop(error::cancelled(f_.cancelled_because()));
        if (some_branch_is_stopping(f_)) return stop(error::cancelled(cancel_reason::sibling));
    }
    if (auto over = time_over()) return stop(*std::move(over));
    if (f_.incoming_) {
        error failure = *std::exchange(f_.incoming_, std::nullopt);
        drop_grant();
        if (!f_.frames_.empty() || f_.first_call_ >= 0) return raise(std::move(failure));
        add_trace(failure);
        return unwind(std::move(failure));
    }
    if (memory_.search_comes_first(f_.has_waited_)) {
        out_.kind = outcome_kind::out_of_steps;
        out_.idle = true;
        return next::leave;
    }
    f_.has_waited_ = false;
    if (auto overlong = overlong_cleanup()) return end_overlong(*std::move(overlong));
    if (f_.unwinding_) return unwind(*std::exchange(f_.unwinding_, std::nullopt));
    // Frames are not values; they count all the same.
    if (const std::size_t bytes = f_.frames_.capacity() * sizeof(frame) +
                                  f_.branches_.capacity() * sizeof(inline_branch) +
                                  f_.cleanups_.capacity() * sizeof(cleanup_mark);
        bytes != f_.charged_frames_) {
        memory_.charge(bytes);
        memory_.discharge(std::exchange(f_.charged_frames_, bytes));
    }
    if (f_.cancellation_masked()) return f_.request_ ? send_request() : next::go_on;
    if (auto passed = limit_passed()) return stop(*std::move(passed));
    return f_.request_ ? send_request() : next::go_on;
}

/// Raises what ends a cleanup. It was made once with its trace: it may come up in a million frames.
interpreter::next interpreter::end_overlong(error failure) {
    if (!f_.overlong_) return stop(std::move(failure));
    forget_plans();
    return unwind(std::move(failure));
}

/// The failure when a limit of the run or of a sandbox is passed, outside of cleanups.
std::optional<error> interpreter::limit_passed() {
    if (budget_.steps == 0) {
        // To catch it would only be to meet it again at the next step, for ever.
        return made_uncatchable(error(errc::limit, "the step limit of this run is used up"));
    }
    const bool memory_is_over = memory_.over_limit() && memory_.limit_used_up();
    if (auto& common = f_.realm_->common; common && !common->extent && !memory_is_over)
        common.reset(); // the next one is another
    if (auto over = sandbox_over(memory_is_over ? memory_.used() : 0)) return over;
    if (memory_is_over) {
        const bool begun = !f_.frames_.empty();
        error over =
            error(errc::limit,
                  "the memory limit of this run (" +
                      std::to_string(memory_.limit_asked() / (1024 * 1024)) + " MiB) is used up " +
                      (begun ? "at a depth of " + std::to_string(f_.frames_.size()) + " calls"
                             : std::string("before the program begins")))
                .with_hint(begun
                               ? "raise the limit, or make a deep recursion a loop with tail calls"
                               : "raise the limit, or keep large data out of the program");
        // What catches it may begin something deeper each time: without this there is no limit.
        const std::size_t beyond = memory_.used() - memory_.limit();
        if (beyond > memory_.limit() / 4 + max_beyond_memory_limit)
            return made_uncatchable(std::move(over));
        return over;
    }
    if (f_.frames_.size() > budget_.max_frames) {
        return error(errc::limit, "calls nested deeper than " + std::to_string(budget_.max_frames));
    }
    return std::nullopt;
}

/// The fiber has to wait. On a parent's stack the branch moves to a fiber of its own, and the
/// parent goes on.
interpreter::next interpreter::suspend(waiting_for what) {
    settle_steps(); // before another scope is looked at
    f_.waits_ = what;
    if (f_.branches_.empty() || ends_as_a_whole()) {
        f_.has_waited_ = true;
        out_.kind = what == waiting_for::effect ? outcome_kind::effect : outcome_kind::parked;
        return next::leave;
    }
    out_.child = detach_branch(f_);
    out_.kind = outcome_kind::forked;
    return next::leave;
}

/// Nothing is changed when there is no memory for it.
std::unique_ptr<fiber> interpreter::detach_branch(fiber& parent) {
    auto* group = static_cast<join*>(host_of(parent.branches_.back().group));
    auto child = std::make_unique<fiber>(*parent.realm_);
    const std::size_t first = parent.branches_.back().first_frame;
    const bool framed = first < parent.frames_.size();
    // The stack from the branch's callee upwards. Without frames there is only the place of the
    // answer.
    const std::size_t from = framed ? parent.frames_[first].base - 1U : parent.result_slot_;
    std::size_t to = from + 1;
    // The innermost frame need not be the one that reaches furthest: a caller may have many
    // registers.
    for (std::size_t k = first; k < parent.frames_.size(); ++k)
        to = std::max<std::size_t>(to, parent.frames_[k].base + parent.frames_[k].code->registers);
    child->reserve(to - from);
    child->cleanups_.reserve(static_cast<std::size_t>(
        std::count_if(parent.cleanups_.begin(), parent.cleanups_.end(),
                      [&](const cleanup_mark& each) { return each.depth > first; })));
    group->make_room();
    parent.frames_.move_tail(first, child->frames_);
    // From here on nothing needs memory.
    inline_branch branch = take_inline(parent);
    join::pass_opened(parent, branch, *child);
    // Relocated, not copied: the child owns the bits now and the parent's registers are nil.
    for (std::size_t k = from; k < to; ++k) child->stack_[k - from].swap(parent.stack_[k]);
    for (std::size_t k = 0; k < child->frames_.size(); ++k)
        child->frames_[k].base -= static_cast<std::uint32_t>(from);
    while (!parent.cleanups_.empty() && parent.cleanups_.back().depth > first) {
        cleanup_mark moved = parent.cleanups_.back();
        moved.depth -= static_cast<std::uint32_t>(first);
        child->cleanups_.insert(child->cleanups_.begin(), moved);
        parent.cleanups_.pop_back();
    }
    child->scope_ = std::exchange(parent.scope_, std::move(branch.scope));
    child->request_ = std::move(parent.request_);
    child->job_ = std::move(parent.job_);
    child->result_slot_ = parent.result_slot_ - static_cast<std::uint32_t>(from);
    child->waits_ = std::exchange(parent.waits_, waiting_for::nothing);
    child->has_waited_ = child->waits_ != waiting_for::nothing;
    child->waits_on_ = std::exchange(parent.waits_on_, value());
    if (parent.cleans_up()) {
        // Of a cleanup below it on the stack.
        child->of_cleanup_ = true;
        child->ending_ = parent.cleanups_.empty() ? parent.ending_ : parent.cleanups_.back().limits;
        if (parent.cancel_requested()) child->end_cleanup_by(parent.cancel_end_);
    }
    child->permit_ = branch.permit;
    child->next_ordinal_ = branch.next_ordinal;
    child->slot_ = branch.slot;
    child->group_ = std::move(branch.group);
    group->add(*child);
    // What the branch waits on must wake the child, not its parent.
    if (child->waits_ == waiting_for::children) host_as<join>(child->waits_on_)->park(*child);
    if (child->waits_ == waiting_for::future) {
        auto* awaited = host_as<future>(child->waits_on_);
        awaited->forget(parent);
        awaited->wait(*child);
    }
    if (child->waits_ == waiting_for::permit) {
        concurrency_scope* scope = std::exchange(parent.waits_scope_, nullptr);
        scope->replace(parent, *child);
        if (auto* starts = host_as<join>(child->waits_on_)) starts->await_permit(*child);
    }
    ++parent.frames_.back().at; // past branch_done: the child notifies the join
    child->future_ = std::move(branch.future);
    auto* answer = static_cast<future*>(host_of(child->future_));
    if (answer) answer->attach(*child);
    // Asked to end while it was not a fiber yet. Its driver does not know it, so it is not woken.
    if (group->stops(child->slot_) || (answer && answer->stopping()))
        child->request_cancel(cancel_reason::sibling);
    else if (parent.cancel_requested() && !parent.cleans_up())
        child->request_cancel(parent.cancel_, parent.cancel_end_);
    child->driver = parent.driver;
    return child;
}

bool interpreter::begin_join(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    const value& count = R[i.b];
    const auto slots = static_cast<std::uint64_t>(count.is_integer() ? count.as_integer() : -1);
    // Of few results the next safe point sees it, and reports it once for all branches.
    constexpr std::uint64_t few = 1024;
    if (slots > value::max_length || (slots > few && !memory_.make_room(slots * sizeof(value)))) {
        failure_ =
            error(errc::limit, std::to_string(slots) + " results do not fit in the memory limit");
        return false;
    }
    const std::string_view label = string_bytes(top().code->constants[i.c]);
    R[i.a] =
        make_host(memory_, std::make_unique<join>(*f_.realm_, slots, static_cast<join_policy>(i.x),
                                                  std::string(label), f_.scope_->concurrency));
    auto* opened = static_cast<join*>(host_of(R[i.a]));
    opened->set_outer(running_branch(), next_ordinal(), f_.realm_->host_events(),
                      sandbox() ? sandbox()->own().as_value() : value());
    opened->opened_by(f_, f_.frames_.size());
    return true;
}

interpreter::next interpreter::branch_call(instruction i, instruction operands, std::size_t base) {
    value* R = f_.stack_ + base;
    auto* group = static_cast<join*>(host_of(R[operands.b]));
    const auto skip = [&] {
        for (std::size_t k = 0; k <= i.b; ++k) R[i.a + k].set_nil();
        ++top().at; // past branch_done
        return next::go_on;
    };
    if (f_.branches_.size() == f_.branches_.capacity()) // before a permit is taken
        f_.branches_.reserve(f_.branches_.size() * 2 + 1);
    group->make_inline_room();
    if (i.x == spawned) {
        const value answer = R[operands.a];
        const std::uint32_t slot = static_cast<const future*>(host_of(answer))->slot();
        begin_inline({f_.frames_.size(), R[operands.b], slot, {}, f_.scope_, answer});
        f_.scope_ = f_.scope_.open(memory_, [&](dynamic_scope& scope) {
            scope.spawned = host_ref<future>::from_value(answer);
        });
        return call_value(base + i.a, i.b, false);
    }
    if (group->stopping()) {
        drop_grant();
        return skip();
    }
    permit& own = current_permit();
    // An unbounded one takes the place of its parent, if that has one: after a wait it has to get
    // one first.
    if (i.x == unbounded && R[operands.a].as_integer() == 0 && !regain_permit()) {
        top().at -= 2; // tried again once a permit was handed over
        own.scope->wait(f_);
        return suspend(waiting_for::permit);
    }
    permit taken{i.x != unbounded ? group->scope() : own.held ? own.scope : nullptr, false};
    if (taken.scope) {
        if (own.scope == taken.scope && own.held) {
            own.held = false; // lent to the branch
            taken.held = true;
        } else if (take_grant(taken.scope) || taken.scope->try_acquire()) {
            taken.held = true;
        } else {
            top().at -= 2; // tried again once a permit was handed over
            taken.scope->wait(f_);
            f_.waits_on_ = R[operands.b];
            group->await_permit(f_);
            return suspend(waiting_for::permit);
        }
    }
    begin_inline({f_.frames_.size(), R[operands.b],
                  static_cast<std::uint32_t>(R[operands.a].as_integer()), taken, f_.scope_,
                  value()});
    const value& callee = R[i.a];
    if (callee.is(kind::closure)) {
        const function* code = closure_of(callee)->code;
        if (closure_of(callee)->arity == static_cast<std::int32_t>(i.b)) [[likely]] {
            const std::size_t first = base + i.a + 1U;
            f_.reserve(first + code->registers);
            f_.frames_.push_back(code->code.data(), code, static_cast<std::uint32_t>(first));
            if (fuel_ > 1) {
                --fuel_;
                return next::go_on;
            }
            fuel_ = 0;
            return check_slice();
        }
    }
    return call_value(base + i.a, i.b, false);
}

void interpreter::branch_done(std::size_t base, instruction i) {
    inline_branch ended = take_inline(f_);
    const permit freed = ended.permit;
    value given = std::move(f_.stack_[base + i.a]);
    if (ended.future.is_nil()) {
        static_cast<join*>(host_of(ended.group))->deliver(ended.slot, std::move(given));
    } else {
        f_.scope_ = std::move(ended.scope);
        static_cast<future*>(host_of(ended.future))->deliver(std::move(given));
    }
    if (!freed.held) return;
    permit& own = current_permit();
    if (own.scope == freed.scope && !own.held) own.held = true; // given back
    else freed.scope->release();                                // its join is in a register
}

/// Of a branch that awaits what the group is needed for; empty where another one does, below it.
std::vector<permit_waits::circle_member> interpreter::await_below(const join& group) const {
    for (fiber* each : group.children()) {
        if (each->waits_ != waiting_for::future) continue;
        const auto* awaited = static_cast<const future*>(host_of(each->waits_on_));
        if (awaited->is_around(*f_.scope_)) return {{awaited, each}};
    }
    return {};
}

interpreter::next interpreter::join_end(std::size_t base, instruction i) {
    const value kept = f_.stack_[base + i.b];
    auto* group = static_cast<join*>(host_of(kept));
    permit& own = current_permit();
    if (i.x == 1) group->cancel(cancel_reason::sibling);
    if (group->living() != 0) {
        if (i.x == 0 && group->needs_all() &&
            future::needs(group->children(), f_) == future::need::certain) {
            error failure(errc::evaluation,
                          "await: a branch awaits the future that it is "
                          "needed for; this would wait for ever");
            return raise(with_circle(std::move(failure), await_below(*group)));
        }
        if (i.x == 0 && !group->needs_all()) end_waits_below_race(*group);
        --top().at; // looked at again when the last child has ended
        if (own.held && own.scope == group->scope()) {
            own.held = false;
            own.scope->release();
        }
        f_.waits_on_ = kept;
        group->park(f_);
        return suspend(waiting_for::children);
    }
    if (own.scope && !own.held) {
        // A branch goes on only with a permit, also after its own branches. An error does not wait
        // for one behind all that it may end; what catches it gets one when it needs it.
        if (take_grant(own.scope) || own.scope->try_acquire()) {
            own.held = true;
        } else if (i.x == 1 || !group->has_failed()) {
            --top().at;
            own.scope->wait(f_);
            return suspend(waiting_for::permit);
        }
    }
    group->notify_ended();
    if (i.x == 1) return next::go_on;
    auto outcome = group->outcome();
    if (!outcome) return raise(std::move(outcome).error());
    f_.stack_[base + i.a] = *std::move(outcome);
    return next::go_on;
}

interpreter::next interpreter::join_abort(std::size_t base, instruction i) {
    const value kept = f_.stack_[base + i.a];
    auto* group = static_cast<join*>(host_of(kept));
    group->cancel(f_.cancel_requested() ? f_.cancelled_because() : cancel_reason::sibling,
                  f_.cleanups_.empty() || !f_.cleanups_.back().limits.forced
                      ? cleanup_limits::never
                      : f_.cleanups_.back().limits.end);
    if (group->living() == 0) {
        group->notify_ended();
        return next::go_on;
    }
    --top().at;
    f_.waits_on_ = kept;
    group->park(f_);
    return suspend(waiting_for::children);
}

branch_place place_of(const fiber& self) { return {self.group_, self.slot_}; }

// ---------------------------------------------------------------- machine

outcome machine::run(fiber& self, run_budget& budget, std::uint32_t slice) noexcept {
    interpreter one(self, budget, std::max<std::uint32_t>(1, slice));
    return one.run();
}

outcome machine::abandon(fiber& self, error failure) noexcept {
    run_budget none;
    return interpreter(self, none, 1).abandon(std::move(failure));
}

void machine::fail_wait(fiber& self, error failure) noexcept {
    if (self.leave_wait()) self.incoming_ = std::move(failure);
    else if (self.waits_ == waiting_for::children)
        static_cast<join*>(host_of(self.waits_on_))->fail_all(0, std::move(failure));
}

void machine::resume(fiber& self, result<value> answer) noexcept {
    self.waits_ = waiting_for::nothing;
    self.request_.reset();
    if (answer) self.stack_[self.result_slot_] = *std::move(answer);
    else self.incoming_ = std::move(answer).error();
}

std::unique_ptr<fiber> machine::split_running_branch(fiber& self) {
    if (self.branches_.empty() || self.waits_ != waiting_for::nothing) return nullptr;
    if (self.unwinding_) return nullptr;
    if (interpreter::ends_with_others(self)) return nullptr;
    if (self.branches_.back().first_frame >= self.frames_.size()) return nullptr;
    return interpreter::detach_branch(self);
}

scope_ref with_concurrency(realm& realm, const scope_ref& outer, std::size_t branches) {
    return outer.open(realm.memory(), [&](dynamic_scope& scope) {
        scope.concurrency = host_ref<concurrency_scope>::make(
            realm.memory(), std::make_unique<concurrency_scope>(branches));
    });
}

} // namespace heddle::lang
