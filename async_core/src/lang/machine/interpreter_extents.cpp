// What ends a part of a run: deadlines, and cleanups that hold up an end.
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

constexpr std::uint64_t most_cleanup_steps = 10'000'000;
constexpr std::uint64_t steps_of_an_effect = 10'000; ///< what it counts in a cleanup

} // namespace

/// Cleanup code runs at `target` of the top frame, because of an error; `forced`: one that only cleanups
/// see, on its way out of `extent` if that is not nil.
void interpreter::begin_cleanup(std::uint32_t target, bool forced, value extent) {
    cleanup_mark begun{static_cast<std::uint32_t>(f_.frames_.size()),
                       target,
                       forced,
                       f_.scope_,
                       std::move(extent),
                       std::numeric_limits<double>::infinity(),
                       memory_.used()};
    const cleanup_mark* outer = f_.cleanups_.empty() ? nullptr : &f_.cleanups_.back();
    if (outer) begun.memory = outer->memory;
    if (outer && (outer->forced || (!forced && !std::isinf(outer->until)))) {
        begun.forced = outer->forced;
        begun.extent = outer->extent;
        begun.until = outer->until;
    } else if (!forced && f_.scope_->time) {
        begun.until = f_.scope_->deadline;
        begun.extent = f_.scope_->time.as_value();
    }
    f_.cleanups_.push_back(std::move(begun));
    f_.scope_ = without_deadline(memory_, f_.scope_);
}

/// The innermost cleanup is over.
void interpreter::end_cleanup() {
    f_.scope_ = std::move(f_.cleanups_.back().scope);
    f_.cleanups_.pop_back();
}

/// First of the cleanup of a form that opened a scope. An error on its way out of the extent that it
/// opened is an ordinary one from here on.
void interpreter::leave_settings(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    auto* caught = static_cast<caught_error*>(host_of(R[i.b]));
    const scope_ref inner = std::move(f_.cleanups_.back().scope);
    f_.cleanups_.pop_back();
    move_to(scope_ref::from_value(R[i.a]));
    if (inner->sandbox && !(inner->sandbox == f_.scope_->sandbox)) {
        caught->failure = out_of_sandbox(std::move(caught->failure));
    }
    bool timed_out = false;
    if (const value* mark = extent_of(caught->failure);
        mark && inner->is_inside(*mark) && !f_.scope_->is_inside(*mark)) {
        timed_out = caught->failure.code() == errc::timeout;
        caught->failure = with_extent(std::move(caught->failure), {});
        if (f_.cleanups_.empty()) {
            f_.cleanup_steps_ = 0;
            f_.overlong_.reset();
        }
    }
    R[i.c] = value::boolean(timed_out);
}

/// Whether cleanup code runs that something waits for: a cancellation, the end of an extent. `extent`
/// is set to the one, if it is one.
bool interpreter::cleanup_holds_up(const fiber& strand, value& extent) {
    if (strand.of_cleanup_ && strand.holds_up_) {
        extent = strand.ending_extent_;
        return true;
    }
    if (strand.cleanups_.empty()) return false;
    const cleanup_mark& innermost = strand.cleanups_.back();
    if (innermost.forced || strand.world_->host().now() >= innermost.until) {
        extent = innermost.extent;
        return true;
    }
    return strand.cancel_requested() || some_branch_is_stopping(strand);
}

void interpreter::count_cleanup(std::uint64_t steps) {
    if (!f_.cleans_up()) return;
    value extent;
    const bool run_is_over = budget_.steps == 0;
    if (!run_is_over && !cleanup_holds_up(f_, extent)) return;
    f_.cleanup_steps_ += steps;
    if (run_is_over || f_.cancel_requested())
        budget_.cleanup_steps -= std::min(budget_.cleanup_steps, steps);
}

void interpreter::count_effect_of_cleanup() { count_cleanup(steps_of_an_effect); }

/// The error that ends a cleanup which nobody can wait for any longer, or which takes memory beyond the
/// limit that may have begun it. No `catch` takes it in what has to end.
std::optional<error> interpreter::overlong_cleanup() {
    if (!f_.cleans_up()) return std::nullopt;
    if (f_.overlong_) {
        given_ = fuel_ = 1;
        return f_.overlong_;
    }
    const bool steps = f_.cleanup_steps_ > most_cleanup_steps || budget_.cleanup_steps == 0;
    const bool memory =
        !f_.cleanups_.empty() && memory_.over_limit() &&
        memory_.used() > std::max(memory_.limit(), f_.cleanups_[0].memory) + memory_.limit() / 4 &&
        memory_.limit_used_up();
    if (!steps && !memory) return std::nullopt;
    value extent;
    const bool holds_up = cleanup_holds_up(f_, extent) || budget_.steps == 0;
    if (!holds_up && !memory) return std::nullopt;
    // From here on every step is looked at, so that what unwinds does not begin anew.
    given_ = fuel_ = 1;
    error failure =
        memory ? error(errc::limit, "the memory limit of this run is used up inside 'finally'")
               : error(errc::limit,
                       "a 'finally' took too many steps while something waited for "
                       "its end");
    failure = std::move(failure).with_hint(
        "keep 'finally' short: when its branch has to end it may take " +
        std::to_string(most_cleanup_steps) + " steps, and an effect counts as " +
        std::to_string(steps_of_an_effect));
    if (!holds_up) return failure;
    failure = std::move(failure).with_span(here()).with_origin(error_origin::script);
    add_trace(failure);
    if (!extent.is_nil()) f_.overlong_ = with_extent(std::move(failure), std::move(extent));
    else if (f_.cancel_requested()) f_.overlong_ = error::cancelled(f_.cancelled_because());
    else f_.overlong_ = made_uncatchable(std::move(failure));
    return f_.overlong_;
}

/// The failure when the time of what runs is over.
std::optional<error> interpreter::time_over() const {
    const bool ended = f_.frames_.empty() && f_.first_call_ < 0 && !f_.incoming_ && !f_.request_;
    if (ended) return std::nullopt; // its value is there already
    if (!f_.scope_->time || f_.world_->host().now() < f_.scope_->deadline) return std::nullopt;
    return deadline_error(*f_.scope_);
}

// ---------------------------------------------------------------- machine

std::optional<double> fiber::deadline() const noexcept {
    return scope_->time ? std::optional(scope_->deadline) : std::nullopt;
}

bool machine::interrupt_wait(fiber& strand) {
    if (!strand.leave_wait()) return false;
    strand.incoming_ = deadline_error(*strand.scope_);
    return true;
}

error machine::deadline_failure(const fiber& strand) { return deadline_error(*strand.scope_); }

} // namespace heddle::lang
