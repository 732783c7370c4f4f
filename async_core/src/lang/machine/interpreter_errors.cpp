// Errors: raising, traces and unwinding. What handlers do with them is in interpreter_caught.cpp.
#include "extents.hpp"
#include "future.hpp"
#include "interpreter.hpp"

#include "lang/print/described.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>

namespace heddle::lang {

namespace {

constexpr std::size_t max_trace_lines = 64;
constexpr std::uint64_t unwound_in_a_go = 128; ///< steps of errors on their way out: some 0.1 ms
constexpr std::size_t frames_of_a_step = 64;   ///< that an error leaves
constexpr std::size_t frames_in_a_go = 8192;   ///< that it leaves between two safe points
constexpr unsigned max_attempts = 3;           ///< to raise an error where there is no memory

/// The name in a trace. Helpers of the prelude show the name of what they help, those of a library
/// (%text/chunks) the library.
std::string shown_name(const function& code) {
    if (code.name.empty()) return "a lambda";
    if (!code.hidden || code.name.front() != '%') return "'" + code.name + "'";
    const std::size_t slash = code.name.find('/');
    if (slash != std::string::npos) return "a function of std/" + code.name.substr(1, slash - 1);
    return "'" + code.name.substr(1) + "'";
}

} // namespace

interpreter::next interpreter::raise_type(std::string_view what, std::size_t index,
                                          std::string_view expected, const value& given) {
    return raise(error(errc::type, std::string(what) + ": argument " + std::to_string(index) +
                                       " must be " + std::string(expected) + ", not " +
                                       described(given)));
}

/// A branch that cannot wait was begun without a record (op::branch_call). It fails: now it gets
/// one, so that the failure is the branch's and not its parent's.
void interpreter::note_leaf_branch() {
    if (f_.frames_.size() < 2) return;
    const std::size_t index = f_.frames_.size() - 1;
    const frame& caller = f_.frames_[index - 1];
    const instruction done = *caller.at;
    const bool recorded = !f_.branches_.empty() && f_.branches_.back().first_frame >= index;
    if (done.code != op::branch_done || recorded || !f_.frames_[index].code->leaf) return;
    const value* R = f_.stack_ + caller.base;
    begin_inline({index, R[done.b], static_cast<std::uint32_t>(R[done.c].as_integer()), permit{},
                  f_.scope_, value()});
    if (static_cast<const join*>(host_of(R[done.b]))->stopping()) f_.stop_noted_ = true;
}

/// As raise, for errors about code, which may know their own place.
interpreter::next interpreter::raise_where_it_is(error failure) {
    failure = refused_memory(leaving_sandbox(std::move(failure)));
    if (!failure.info().span.known()) return raise(std::move(failure));
    note_leaf_branch();
    failure = std::move(failure).with_origin(error_origin::script);
    failure = std::move(failure).with_trace("evaluating code", here());
    add_trace(failure);
    return unwind(std::move(failure));
}

interpreter::next interpreter::raise(error failure) {
    failure = refused_memory(std::move(failure));
    // What has used the steps up, and failed: no catch would take its error any more.
    if (budget_.steps == 0 && !passes_catches(failure) && !f_.cancellation_masked()) {
        if (auto passed = limit_passed()) failure = *std::move(passed);
    }
    if (f_.cleanups_.empty()) f_.unwinding_end_ = cleanup_limits::never; // a new end
    note_leaf_branch();
    if (is_complete(failure)) return unwind(std::move(failure));
    failure = std::move(failure).with_span(here()).with_origin(error_origin::script);
    add_trace(failure);
    return unwind(std::move(failure));
}

/// The frames down to the branch that runs, in the user's words. Deep recursion is folded.
void interpreter::add_trace(error& failure) const {
    const std::size_t floor = f_.branches_.empty() ? 0 : f_.branches_.back().first_frame;
    const std::size_t count = f_.frames_.size() - floor;
    const std::size_t half = max_trace_lines / 2;
    for (std::size_t k = 0; k < count; ++k) {
        if (count > max_trace_lines && k == half) {
            const std::size_t skipped = count - max_trace_lines;
            failure =
                std::move(failure).with_trace("… " + std::to_string(skipped) + " more calls …");
            k += skipped;
        }
        const std::size_t index = f_.frames_.size() - 1 - k;
        const frame& at = f_.frames_[index];
        if (index == 0 && at.code->name.empty() && f_.group_.is_nil()) break; // the program itself
        source_span called;
        if (index != 0) {
            const frame& caller = f_.frames_[index - 1];
            const std::size_t next_index =
                static_cast<std::size_t>(caller.at - caller.code->code.data());
            if (next_index != 0 && !caller.code->hidden)
                called = caller.code->places[next_index - 1];
        }
        if (at.code->hidden && at.tail_calls != 0) {
            called = {at.tail_calls, at.tail_calls + 1};
        } else if (at.code->hidden) {
            // Text that the language has generated explains nothing.
            if (index == 0 ? at.code->name.empty() : f_.frames_[index - 1].code->hidden) continue;
        }
        std::string line = "in " + shown_name(*at.code);
        if (at.tail_calls != 0 && !at.code->hidden)
            line += " (after " + std::to_string(at.tail_calls) +
                    (at.tail_calls == 1 ? " tail call)" : " tail calls)");
        failure = std::move(failure).with_trace(
            std::move(line), called.known() || at.code->hidden ? called : at.code->span);
    }
}

void interpreter::leave_frame() noexcept {
    const frame& gone = top();
    value* R = f_.stack_ + gone.base;
    for (std::uint32_t k = 0; k < gone.code->registers; ++k) R[k].set_nil();
    value* callee = R - 1;
    f_.frames_.pop_back();
    callee->set_nil();
}

/// What is left of a branch that ends on this stack, apart from telling its join or future.
void interpreter::leave_branch(inline_branch& ended) noexcept {
    if (ended.permit.held) {
        permit& outer = current_permit();
        if (outer.scope == ended.permit.scope && !outer.held) outer.held = true;
        else ended.permit.scope->release();
    }
    f_.scope_ = std::move(ended.scope);
    // The cleanups of other branches on this stack are not to pay for those of this one, unless all
    // of them are of one end.
    if (!is_to_end() && !f_.cleans_up()) forget_cleanups();
}

/// Looks for a handler. Should there be no memory to go there, that is the error from then on.
interpreter::next interpreter::unwind(error failure) noexcept {
    for (unsigned attempt = 1;; ++attempt) {
        try {
            return unwind_to_handler(std::move(failure));
        } catch (...) {
            failure = error_of_exception("the machine");
        }
        if (attempt == max_attempts) return give_up(std::move(failure));
    }
}

/// From the innermost frame outwards. Cancellation and what leaves an extent stop at cleanups only,
/// and so does an error of a run whose steps are used up: a program that catches it would never
/// end. Throws only where doing it again is right.
interpreter::next interpreter::unwind_to_handler(error failure) {
    if (!failure.is_cancelled()) note_leaf_branch();
    bool cancellation = failure.is_cancelled();
    bool cleanups_only = passes_catches(failure) || budget_.steps == 0;
    // An error of a cleanup does not take the place of what no catch takes: it would be a way
    // around.
    const auto leave_cleanup = [&] {
        if (!cleanups_only) {
            if (const auto* passing =
                    static_cast<caught_error*>(host_of(f_.cleanups_.back().passing))) {
                failure = error(passing->failure).with_last_cause(std::move(failure));
                cancellation = failure.is_cancelled();
                cleanups_only = true;
            }
        }
        end_cleanup();
    };
    const std::size_t frames = f_.frames_.size();
    const bool may_pause = !f_.request_ && !f_.job_ && f_.first_call_ < 0;
    for (;;) {
        const std::size_t floor = f_.branches_.empty() ? 0 : f_.branches_.back().first_frame;
        while (f_.frames_.size() > floor) {
            frame& at = top();
            const std::uint32_t depth = static_cast<std::uint32_t>(f_.frames_.size());
            const auto position = static_cast<std::uint32_t>(at.at - at.code->code.data() - 1);
            for (const handler& h : at.code->handlers) {
                if (position < h.begin || position >= h.end || (cleanups_only && !h.cleanup))
                    continue;
                // Cleanups that this jump leaves are over.
                while (!f_.cleanups_.empty() && (f_.cleanups_.back().depth > depth ||
                                                 (f_.cleanups_.back().depth == depth &&
                                                  h.begin < f_.cleanups_.back().target))) {
                    leave_cleanup();
                }
                if (cleanups_only && !h.cleanup) continue;
                value extent;
                if (const value* mark = extent_of(failure)) extent = *mark;
                value caught =
                    make_host(memory_, std::make_unique<caught_error>(memory_, std::move(failure)));
                if (h.cleanup) {
                    begin_cleanup(h.target, cleanups_only, std::move(extent));
                    if (cleanups_only) f_.cleanups_.back().passing = caught;
                }
                f_.stack_[at.base + h.slot] = std::move(caught);
                // What takes an error begins nothing anew that is to end.
                if (!h.cleanup && is_to_end()) look_at_next_step();
                at.at = at.code->code.data() + h.target;
                unwound_ += 1 + (frames - f_.frames_.size()) / frames_of_a_step;
                // The branches of a form that is left end in any case, before limits are looked at.
                const bool may_look = at.at->code != op::join_abort;
                return unwound_ >= unwound_in_a_go && may_look ? look_at_limits_first()
                                                               : next::go_on;
            }
            leave_frame();
            if (frames - f_.frames_.size() >= frames_in_a_go && f_.frames_.size() > floor &&
                may_pause) {
                while (!f_.cleanups_.empty() && f_.cleanups_.back().depth > f_.frames_.size())
                    leave_cleanup();
                return unwind_later(std::move(failure), frames - f_.frames_.size());
            }
        }
        while (!f_.cleanups_.empty() && f_.cleanups_.back().depth > f_.frames_.size())
            leave_cleanup();
        if (f_.branches_.empty()) {
            if (!cancellation && !passes_catches(failure) && owes_permit()) {
                f_.unwinding_ = std::move(failure); // what called it goes on
                f_.permit_.scope->wait(f_);
                return suspend(waiting_for::permit);
            }
            out_.kind = cancellation ? outcome_kind::cancelled : outcome_kind::failed;
            out_.failure = std::move(failure);
            finish_fiber(out_);
            return next::leave;
        }
        // The end of a branch that ran on this stack.
        inline_branch ended = take_inline(f_);
        leave_branch(ended);
        auto* group = static_cast<join*>(host_of(ended.group));
        auto* answer = static_cast<future*>(host_of(ended.future));
        if (!cancellation) {
            ++top().at;                             // past branch_done
            unwound_ += steps_to_describe(failure); // which map-settled does
            if (answer) answer->fail(std::move(failure));
            else group->fail(ended.slot, std::move(failure));
            // It may have ended; and who began a future that met a limit goes on into the same
            // limit.
            if (unwound_ >= unwound_in_a_go) spend_steps(std::exchange(unwound_, 0));
            else if (limits() || answer || is_to_end()) look_at_next_step();
            return next::go_on;
        }
        if (answer) answer->drop();
        if (is_to_end()) continue; // the parent ends too
        ++top().at;
        if (!answer && !group->stopping()) group->fail(ended.slot, std::move(failure));
        return next::go_on;
    }
}

/// A handler was entered, after many others: errors on their way out meet no other safe point. The
/// next slice begins with one. It comes from outside, as what ends the handler at once is an error
/// too.
interpreter::next interpreter::look_at_limits_first() {
    spend_steps(std::exchange(unwound_, 0));
    if (f_.request_ || f_.job_ || f_.first_call_ >= 0) return next::go_on;
    out_.kind = outcome_kind::out_of_steps;
    return next::leave;
}

/// An error has left many frames, and goes on in the next slice. They may be left in the middle of
/// an instruction: nothing of them runs before that.
interpreter::next interpreter::unwind_later(error failure, std::size_t left) noexcept {
    f_.unwinding_ = std::move(failure);
    spend_steps(std::exchange(unwound_, 0) + left / frames_of_a_step);
    out_.kind = outcome_kind::out_of_steps;
    return next::leave;
}

/// The fiber has ended, however: its join is notified of it.
void interpreter::finish_fiber(outcome& out) noexcept {
    return_permit();
    drop_grant();
    if (f_.group_.is_nil()) {
        f_.realm_->common.reset(); // nobody is left who would meet the same limit
        return;
    }
    const value kept = std::exchange(f_.group_, value());
    auto* group = static_cast<join*>(host_of(kept));
    const value answer_kept = std::exchange(f_.future_, value());
    if (auto* answer = static_cast<future*>(host_of(answer_kept))) {
        if (out.kind == outcome_kind::done) answer->deliver(out.result);
        else if (out.kind == outcome_kind::failed) answer->fail(*out.failure);
        else answer->drop();
    } else if (out.kind == outcome_kind::done) {
        group->deliver(f_.slot_, out.result);
    } else if (out.kind == outcome_kind::failed) {
        group->fail(f_.slot_, *out.failure);
    } else if (!f_.cancel_requested() && !group->stopping()) {
        // Nobody has cancelled it: a recorded answer was wrong. It has no value, not even nil.
        group->fail(f_.slot_, *out.failure);
    }
    group->remove(f_);
}

// ---------------------------------------------------------------- exceptions

/// What the fiber was about to do, or computes in turns, is of no use any more.
void interpreter::forget_plans() noexcept {
    f_.first_call_ = -1;
    f_.incoming_.reset();
    f_.unwinding_.reset();
    f_.request_.reset();
    f_.job_.reset();
    drop_grant();
}

/// Nothing is waited for any more.
void interpreter::forget_wait() noexcept {
    forget_plans();
    if (f_.waits_ == waiting_for::children) static_cast<join*>(host_of(f_.waits_on_))->unpark();
    if (!f_.leave_wait()) {
        f_.waits_ = waiting_for::nothing;
        f_.waits_on_.set_nil();
    }
    drop_grant(); // it may have come meanwhile
}

/// An exception left an operation; the frames are as they were before it, or after. It is the
/// failure of the branch that runs.
interpreter::next interpreter::thrown(error failure) noexcept {
    settle_steps();
    work_.begin(0); // the builtin that was asked to stop is over
    forget_wait();
    out_ = {};
    for (unsigned attempt = 1;; ++attempt) {
        try {
            return raise(std::move(failure));
        } catch (...) {
            failure = error_of_exception("the machine");
        }
        if (attempt == max_attempts) return unwind(std::move(failure));
    }
}

/// What a frame holds for others, given back without its own code: permits and branches.
void interpreter::release_frame() noexcept {
    const frame& at = top();
    const auto& code = at.code->code;
    const auto position = static_cast<std::uint32_t>(at.at - code.data() - 1);
    for (const handler& h : at.code->handlers) {
        if (!h.cleanup || position < h.begin || position >= h.end) continue;
        for (std::size_t k = h.target; k < code.size() && code[k].code != op::rethrow; ++k) {
            if (code[k].code == op::permit_release) {
                release_permit(at.base, code[k]);
            } else if (code[k].code == op::join_abort) {
                auto* group = static_cast<join*>(host_of(f_.stack_[at.base + code[k].a]));
                group->unpark();
                group->cancel(cancel_reason::sibling);
            }
        }
    }
}

/// Ends the fiber by force, with everything on its stack.
interpreter::next interpreter::give_up(error failure) noexcept {
    for (;;) {
        const std::size_t floor = f_.branches_.empty() ? 0 : f_.branches_.back().first_frame;
        while (f_.frames_.size() > floor) {
            release_frame();
            leave_frame();
        }
        while (!f_.cleanups_.empty() && f_.cleanups_.back().depth > f_.frames_.size())
            end_cleanup();
        if (f_.branches_.empty()) break;
        inline_branch ended = take_inline(f_);
        leave_branch(ended);
        if (auto* answer = static_cast<future*>(host_of(ended.future))) answer->fail(failure);
    }
    out_ = {};
    out_.kind = outcome_kind::failed;
    out_.failure = std::move(failure);
    finish_fiber(out_);
    return next::leave;
}

outcome interpreter::abandon(error failure) noexcept {
    forget_wait();
    (void)give_up(std::move(failure));
    return std::move(out_);
}

} // namespace heddle::lang
