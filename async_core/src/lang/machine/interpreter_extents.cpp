// What ends a part of a run: deadlines, and cleanups that hold up an end.
#include "escaping_error.hpp"
#include "extents.hpp"
#include "interpreter.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heddle::lang {

namespace {

constexpr std::uint64_t max_cleanup_steps = 10'000'000;
constexpr std::size_t min_cleanup_memory = 64 * 1024; ///< in a sandbox, beyond its limit
constexpr std::uint64_t steps_of_an_effect = 10'000;  ///< what it counts in a cleanup

} // namespace

/// Cleanup code runs at `target` of the top frame, because of an error; `forced`: one that only
/// cleanups see, on its way out of `extent` if that is not nil.
void interpreter::begin_cleanup(std::uint32_t target, bool forced, value extent) {
    const double now = f_.realm_->host().begin_time();
    if (std::isinf(f_.unwinding_end_)) f_.unwinding_end_ = now + cleanup_seconds;
    cleanup_limits limits;
    limits.waits = f_.unwinding_end_;
    limits.end = f_.scope_->cleanup_end;
    if (forced) {
        limits.forced = true;
        auto* mark = host_as<extent_mark>(extent);
        limits.end = std::min(limits.end, mark                    ? mark->cleanup_end(now)
                                          : f_.cancel_requested() ? f_.cancel_end_
                                                                  : f_.unwinding_end_);
        limits.extent = std::move(extent);
    } else if (f_.scope_->time) {
        limits.until = f_.scope_->deadline;
        limits.extent = f_.scope_->time.as_value();
    }
    std::size_t memory = memory_.used();
    if (!f_.cleanups_.empty()) { // inside another one
        const cleanup_mark& outer = f_.cleanups_.back();
        memory = outer.memory;
        limits = inside(outer.limits, std::move(limits));
    } else if (f_.of_cleanup_) {
        limits = inside(f_.ending_, std::move(limits));
    }
    if (limits.end <= now) {
        settle_steps();
        given_ = fuel_ = 1; // its first step is one too many
    }
    scope_ref inner = without_deadline(memory_, f_.scope_);
    f_.cleanups_.push_back({static_cast<std::uint32_t>(f_.frames_.size()), target, f_.scope_,
                            std::move(limits), memory});
    f_.scope_ = std::move(inner);
}

/// The limits of a cleanup that runs inside another one: what holds for that holds for it too.
cleanup_limits interpreter::inside(const cleanup_limits& outer, cleanup_limits inner) {
    inner.end = std::min(inner.end, outer.end);
    inner.waits = std::min(inner.waits, outer.waits);
    if (outer.forced || (!inner.forced && !std::isinf(outer.until))) {
        inner.forced = outer.forced;
        inner.extent = outer.extent;
        inner.until = outer.until;
    }
    return inner;
}

/// The innermost cleanup is over.
void interpreter::end_cleanup() noexcept {
    settle_steps();
    f_.scope_ = std::move(f_.cleanups_.back().scope);
    f_.cleanups_.pop_back();
    after_cleanup();
}

/// A cleanup goes on when the steps are used up; what comes after it does not.
void interpreter::after_cleanup() noexcept {
    if (f_.cleans_up()) return;
    const sandbox_policy* const bounds = limits();
    if (budget_.steps == 0 || (bounds && bounds->steps_left() == 0)) given_ = fuel_ = 1;
}

/// The body of a form that opened a scope has its value.
interpreter::next interpreter::pop_settings(std::size_t saved) {
    if (const sandbox_policy* bounds = limits()) {
        if (auto ended = bounds->ended()) return raise(*std::move(ended));
    }
    move_to(scope_ref::from_value(f_.stack_[saved]));
    return next::go_on;
}

/// First of the cleanup of a form that opened a scope. An error on its way out of the extent that
/// it opened is an ordinary one from here on.
void interpreter::leave_settings(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    auto* caught = static_cast<caught_error*>(host_of(R[i.b]));
    settle_steps();
    const scope_ref inner = std::move(f_.cleanups_.back().scope);
    f_.cleanups_.pop_back();
    after_cleanup();
    move_to(scope_ref::from_value(R[i.a]));
    if (inner->sandbox && !(inner->sandbox == f_.scope_->sandbox)) {
        caught->failure = with_data_only(memory_, std::move(caught->failure));
    }
    bool timed_out = false;
    if (const value* mark = extent_of(caught->failure);
        mark && inner->is_inside(*mark) && !f_.scope_->is_inside(*mark)) {
        const value extent = *mark;
        if (auto& common = f_.realm_->common; common && common->extent == host_of(extent))
            common.reset();
        error failure = with_extent(caught->failure, {}); // which stays whole without memory
        // Whatever its cleanups did, this is the end of its time.
        if (const auto* time = host_as<time_extent>(extent);
            time && failure.code() != errc::timeout) {
            const source_span span = failure.info().span;
            failure = end_of_time(*time).with_cause(std::move(failure)).with_span(span);
            failure = std::move(failure).with_origin(error_origin::script);
        }
        timed_out = failure.code() == errc::timeout;
        caught->failure = kept_apart(std::move(failure));
        if (f_.cleanups_.empty()) forget_cleanups();
        const value* overlong = f_.overlong_ ? extent_of(*f_.overlong_) : nullptr;
        if (overlong && overlong->identical(extent)) f_.overlong_.reset();
    }
    R[i.c] = value::boolean(timed_out);
}

/// What held up an end has ended: the next end counts anew.
void interpreter::forget_cleanups() noexcept {
    f_.cleanup_steps_ = 0;
    f_.overlong_.reset();
    f_.unwinding_end_ = cleanup_limits::never;
}

/// The limits of the cleanup code that runs if something waits for its end: a cancellation, the end
/// of an extent, the end of the run's steps.
std::optional<cleanup_limits> interpreter::held_up(fiber& self, const run_budget& budget) {
    if (!self.cleans_up()) return std::nullopt;
    cleanup_limits limits = self.cleanups_.empty() ? self.ending_ : self.cleanups_.back().limits;
    if (self.cancel_requested()) limits.end = std::min(limits.end, self.cancel_end_);
    if (budget.steps == 0) limits.end = std::min(limits.end, budget.cleanup_end);
    const double now = self.realm_->host().now();
    const bool held = limits.forced || now >= limits.until || budget.steps == 0 ||
                      self.cancel_requested() || some_branch_is_stopping(self);
    if (held) return limits;
    if (now < limits.end) return std::nullopt;
    // The deadline of a form around has passed, and so has what its cleanups may take.
    limits.extent = self.scope_->cleanup_time.as_value();
    return limits;
}

void interpreter::count_cleanup(std::uint64_t steps) {
    if (!f_.cleans_up()) return;
    if (!held_up(f_, budget_)) return;
    f_.cleanup_steps_ += steps;
    if (budget_.run_ends()) budget_.cleanup_steps -= std::min(budget_.cleanup_steps, steps);
}

void interpreter::count_effect_of_cleanup() { count_cleanup(steps_of_an_effect); }

/// The error that ends a cleanup which nobody can wait for any longer, or which takes memory beyond
/// the limit that may have begun it. No `catch` takes it in what has to end.
std::optional<error> interpreter::overlong_cleanup() {
    if (!f_.cleans_up()) return std::nullopt;
    // Nobody's code: the scope of what is left must not go on outside of it, nor its permit be
    // lost.
    if (!f_.frames_.empty() &&
        (top().at->code == op::settings_leave || top().at->code == op::permit_release))
        return std::nullopt;
    if (f_.overlong_) {
        given_ = fuel_ = 1;
        return f_.overlong_;
    }
    // Nobody's code: the branches of a form that is left have ended, and its error goes on.
    if (!f_.frames_.empty() && top().at->code == op::join_abort) return std::nullopt;
    const double now = f_.realm_->host().now();
    if (budget_.steps == 0 && std::isinf(budget_.cleanup_end))
        budget_.cleanup_end = now + cleanup_seconds;
    std::optional<cleanup_limits> held = held_up(f_, budget_);
    const bool time = held && now >= held->end;
    const sandbox_policy* const bounds = limits();
    value used_up = bounds ? bounds->used_up_by_cleanups() : value();
    const bool own_steps = held && (f_.cleanup_steps_ > max_cleanup_steps ||
                                    (budget_.run_ends() && budget_.cleanup_steps == 0));
    const bool sandbox_steps = !used_up.is_nil() && !time && !own_steps;
    const bool steps = own_steps || sandbox_steps;
    // Only the sandbox ends: the cleanup may be that of code around it, which has steps left.
    if (sandbox_steps) {
        if (!held) held = f_.cleanups_.empty() ? f_.ending_ : f_.cleanups_.back().limits;
        held->extent = std::move(used_up);
    }
    const bool of_sandbox = bounds && bounds->memory_end() < run_limit_;
    const std::size_t slack =
        of_sandbox ? std::max(bounds->memory_given() / 4, min_cleanup_memory) : run_limit_ / 4;
    const bool memory = !f_.cleanups_.empty() && memory_.over_limit() &&
                        memory_.used() - memory_.limit() > slack &&
                        memory_.used() > f_.cleanups_[0].memory &&
                        memory_.used() - f_.cleanups_[0].memory > slack && memory_.limit_used_up();
    if (!time && !steps && !memory) return std::nullopt;
    // From here on every step is looked at, so that what unwinds does not begin anew.
    given_ = fuel_ = 1;
    error failure(errc::limit,
                  memory && of_sandbox
                      ? "the memory limit of this sandbox is used up inside 'finally'"
                  : memory        ? "the memory limit of this run is used up inside 'finally'"
                  : sandbox_steps ? "the steps of this sandbox are used up inside 'finally'"
                  : time          ? "a 'finally' took too long while something waited for its end"
                                  : "a 'finally' took too many steps while something waited for "
                                    "its end");
    failure = std::move(failure).with_hint(
        "keep 'finally' short: when its branch has to end, all of them together may take 5 s (none "
        "in "
        "a sandbox whose time is over) and " +
        std::to_string(max_cleanup_steps) + " steps, and an effect counts as " +
        std::to_string(steps_of_an_effect));
    if (!held) return failure;
    failure = std::move(failure).with_span(here()).with_origin(error_origin::script);
    add_trace(failure);
    if (!held->extent.is_nil()) f_.overlong_ = with_extent(std::move(failure), held->extent);
    else if (f_.cancel_requested()) f_.overlong_ = error::cancelled(f_.cancelled_because());
    else f_.overlong_ = made_uncatchable(std::move(failure));
    return f_.overlong_;
}

/// The failure when the time of what runs is over.
std::optional<error> interpreter::time_over() const {
    const bool ended =
        f_.frames_.empty() && f_.first_call_ < 0 && !f_.incoming_ && !f_.request_ && !f_.job_;
    if (ended) return std::nullopt; // its value is there already
    if (!f_.scope_->time || f_.realm_->host().now() < f_.scope_->deadline) return std::nullopt;
    return deadline_error(*f_.scope_);
}

// ---------------------------------------------------------------- machine

std::optional<double> fiber::deadline() const noexcept {
    double at = scope_->deadline;
    if (cleans_up()) {
        const cleanup_limits& limits = cleanups_.empty() ? ending_ : cleanups_.back().limits;
        at = std::min({at, limits.waits, limits.end});
        if (cancel_requested()) at = std::min(at, cancel_end_);
    }
    return std::isinf(at) ? std::nullopt : std::optional(at);
}

bool machine::interrupt_wait(fiber& self) {
    if (!self.leave_wait()) return false;
    self.incoming_ = deadline_failure(self);
    return true;
}

error machine::deadline_failure(const fiber& self) {
    const double now = self.realm_->host().now();
    if (!self.cleans_up() || now >= self.scope_->deadline) return deadline_error(*self.scope_);
    return error(errc::timeout, "the time for which 'finally' may wait is over (5 s)");
}

} // namespace heddle::lang
