// Permits: of the scope that bounds how many branches run, and of semaphores.
#include "interpreter.hpp"
#include "permit_waits.hpp"
#include "semaphore.hpp"

#include <heddle/lang/errors.hpp>

namespace heddle::lang {

/// The fiber waits for something that others may need its permit for.
void interpreter::lend_permit() noexcept {
    permit& own = current_permit();
    if (!own.held) return;
    own.held = false;
    own.scope->release();
}

/// A bounded branch asks the world for something only with a permit. After a wait it has none,
/// until it needs one. Cleanups do not wait for one. False: it has to wait.
bool interpreter::regain_permit() noexcept {
    permit& own = current_permit();
    if (!own.scope || own.held || f_.cancellation_masked()) return true;
    if (!take_grant(own.scope) && !own.scope->try_acquire()) return false;
    own.held = true;
    return true;
}

/// What called the fiber goes on after this one with the permit that it has lent: this one, the
/// last that it has called, must have one first.
bool interpreter::owes_permit() noexcept {
    const fiber* lender = f_.lender_;
    if (!lender || !lender->has_lent_ || lender->borrowers_ != 1 || f_.permit_.held) return false;
    f_.permit_.held = take_grant(f_.permit_.scope) || f_.permit_.scope->try_acquire();
    return !f_.permit_.held;
}

/// The fiber has ended: what called it gets its permit back, if this is the last that it has
/// called.
void interpreter::return_permit() noexcept {
    fiber* lender = std::exchange(f_.lender_, nullptr);
    const bool held = std::exchange(f_.permit_.held, false);
    if (lender && --lender->borrowers_ == 0 && std::exchange(lender->has_lent_, false)) {
        // Without one what called it goes on all the same, until its next request: this one was
        // cancelled.
        lender->permit_.held = held || lender->permit_.scope->try_acquire();
    } else if (held) {
        f_.permit_.scope->release();
    }
}

/// Hands the request to the host, once the fiber has its permit.
interpreter::next interpreter::send_request() {
    if (f_.request_->row && f_.request_->row->waits_for_branches) {
        lend_permit();
        return suspend(waiting_for::effect);
    }
    if (regain_permit()) return suspend(waiting_for::effect);
    current_permit().scope->wait(f_);
    return suspend(waiting_for::permit);
}

interpreter::next interpreter::take_permit(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    auto* limit = host_as<semaphore>(R[i.b]);
    if (!limit) return raise_type("with-permit", 1, "a semaphore", R[i.b]);
    if (f_.granted_ == limit || limit->has_free()) {
        limit->note_holder(memory_, running_branch());
        ++f_.realm_->permits_held;
        if (!take_grant(limit)) (void)limit->try_acquire();
        R[i.a] = value::boolean(true);
        return next::go_on;
    }
    const permit_verdict found = permit_waits::of(f_, *limit);
    if (found.what == permit_verdict::kind::hopeless) return raise(waits_for_own_permit(*limit));
    // The mistake is that of who awaits: others may wait for the same future, and cancel that one.
    if (found.what == permit_verdict::kind::awaited_by)
        end_wait(*found.waiting, awaits_own_permit(*limit));
    --top().at; // tried again once a permit was handed over
    lend_permit();
    limit->wait(f_);
    return suspend(waiting_for::permit);
}

void interpreter::release_permit(std::size_t base, instruction i) noexcept {
    value* R = f_.stack_ + base;
    if (!R[i.a].truthy()) return;
    R[i.a] = value::boolean(false);
    auto* limit = static_cast<semaphore*>(host_of(R[i.b]));
    limit->forget_holder(memory_, running_branch());
    --f_.realm_->permits_held;
    limit->release();
}

// ---------------------------------------------------------------- calls

void machine::lend_permit(fiber& caller, fiber& body) noexcept {
    concurrency_scope* const scope = body.scope_->concurrency.get();
    body.permit_ = {scope, false};
    permit& own = caller.permit_;
    if (!scope || own.scope != scope) return;
    body.lender_ = &caller;
    ++caller.borrowers_;
    if (!std::exchange(own.held, false)) return;
    caller.has_lent_ = true;
    body.permit_.held = true;
}

bool machine::take_place(fiber& stand_in) noexcept {
    run_budget none;
    if (interpreter(stand_in, none, 1).regain_permit()) return true;
    stand_in.permit_.scope->wait(stand_in);
    return false;
}

bool machine::may_leave_place(fiber& stand_in) noexcept {
    run_budget none;
    if (!interpreter(stand_in, none, 1).owes_permit()) return true;
    stand_in.permit_.scope->wait(stand_in);
    return false;
}

void machine::leave_place(fiber& stand_in) noexcept {
    run_budget none;
    interpreter one(stand_in, none, 1);
    stand_in.leave_wait();
    one.drop_grant();
    one.return_permit();
}

} // namespace heddle::lang
