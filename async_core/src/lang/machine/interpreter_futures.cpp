// spawn, await, cancel, and the permits of semaphores.
#include "future.hpp"
#include "interpreter.hpp"
#include "permit_waits.hpp"
#include "semaphore.hpp"

#include "lang/print/form_text.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/objects.hpp>

namespace heddle::lang {

namespace {

constexpr std::size_t max_members_shown = 8; ///< of a circle of awaits

} // namespace

bool interpreter::make_future(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    auto* group = static_cast<join*>(host_of(R[i.b]));
    if (group->stopping()) {
        failure_ = error(errc::evaluation,
                         "spawn: the function that contains this 'spawn' has "
                         "returned, and its computations have ended with it");
        return false;
    }
    R[i.a] = make_host(memory_, std::make_unique<future>(
                                    f_.scope_->spawned, R[i.b],
                                    group->add_spawn(memory_, f_.realm_->host_events()), here()));
    return true;
}

/// The error of a wait for a future that waits for a permit of that semaphore.
error interpreter::awaits_own_permit(const semaphore& wanted) {
    return error(errc::evaluation,
                 "await: this would wait for ever, because the future waits for a permit and what "
                 "awaits it holds all of that semaphore (" +
                     std::to_string(wanted.limit()) + ")")
        .with_hint("wait outside of 'with-permit'");
}

/// The error of a wait for a permit that those hold which wait for what waits.
error interpreter::waits_for_own_permit(const semaphore& wanted) {
    return error(errc::evaluation,
                 "with-permit: this would wait for ever, because this branch, with those "
                 "that wait for its end, holds all permits of the semaphore (" +
                     std::to_string(wanted.limit()) + ")")
        .with_hint("take one permit around all of it, or wait outside of 'with-permit'");
}

/// Ends a wait for a future or for a permit that cannot end.
void interpreter::end_wait(fiber& waiting, error failure) noexcept {
    if (!waiting.leave_wait()) return;
    waiting.incoming_ = std::move(failure);
    if (waiting.driver) waiting.driver->wake(waiting);
}

/// Ends the waits that were found to last for ever. The error when one of them is the `await` of
/// this fiber, which does not wait yet.
std::optional<error> interpreter::end_waits(const std::vector<permit_verdict>& found) {
    for (const permit_verdict& each : found) {
        error failure = each.what == permit_verdict::kind::hopeless
                            ? waits_for_own_permit(*each.wanted)
                            : awaits_own_permit(*each.wanted);
        if (each.waiting == &f_) return failure; // the last one
        end_wait(*each.waiting, std::move(failure));
    }
    return std::nullopt;
}

/// What the fiber waits for from here on may never come, because the future needs a permit. The
/// error when it is this `await` that has to end; other waits are ended at once.
std::optional<error> interpreter::await_for_ever(future& awaited) {
    if (f_.realm_->permits_held == 0) return std::nullopt;
    awaited.wait(f_);
    std::vector<permit_verdict> found;
    try {
        found = permit_waits::below(f_, awaited);
    } catch (...) {
        awaited.forget(f_);
        throw;
    }
    awaited.forget(f_);
    return end_waits(found);
}

/// Whether awaiting the future here would deadlock, because the future needs the end of this code.
bool interpreter::awaits_itself(const future& awaited) const {
    if (awaited.is_around(*f_.scope_)) return true;
    const future::need found = future::needs({awaited.own_fiber()}, f_);
    return found == future::need::certain ||
           (found == future::need::maybe && permit_waits::needed_by(f_, awaited));
}

/// The same of a race whose branches have all begun, when what opened it waits for them. When all
/// of them wait for what needs the end of the race, one of their awaits ends too: what that branch
/// does then may be the result.
void interpreter::end_waits_below_race(const join& race) {
    if (race.stopping() || race.of_futures()) return;
    if (f_.realm_->permits_held != 0) end_waits(permit_waits::below(f_, race));
    if (future::needs(race.children(), f_) == future::need::none) return;
    if (fiber* stuck = permit_waits::stuck_await(f_, race)) {
        end_wait(*stuck, error(errc::evaluation,
                               "await: this would wait for ever, because the future needs the end "
                               "of the race that this is a branch of"));
    }
}

/// The error with a line for each member: where its future was spawned, and where that is awaited.
error interpreter::with_circle(error failure,
                               const std::vector<permit_waits::circle_member>& members) {
    for (std::size_t k = 0; k < members.size(); ++k) {
        if (k == max_members_shown) {
            return std::move(failure).with_trace(
                "in the circle: " + std::to_string(members.size() - k) + " more");
        }
        const source_location spawned = f_.realm_->sources().locate(members[k].awaited->span());
        std::string line = "in the circle: a future";
        if (spawned.line != 0) {
            line =
                "in the circle: the future of " + spawned.file + ":" + std::to_string(spawned.line);
        }
        failure = std::move(failure).with_trace(line + " is awaited",
                                                innermost_place(*members[k].awaiter));
    }
    return failure;
}

/// (await f)
interpreter::next interpreter::control_await(std::size_t at, std::size_t count, bool) {
    const value kept = f_.stack_[at + 1];
    auto* awaited = host_as<future>(kept);
    if (!awaited) return raise_type("await", 1, "a future", kept);
    awaited->note_awaited();
    if (!awaited->running()) {
        auto ended = awaited->outcome(*f_.scope_);
        if (!ended) return raise(std::move(ended).error());
        return control_value(at, count, *std::move(ended));
    }
    if (awaits_itself(*awaited)) {
        error failure(errc::evaluation,
                      "await: this would wait for ever, because the future "
                      "itself waits for what awaits it");
        return raise(with_circle(std::move(failure), permit_waits::circle(f_, *awaited)));
    }
    if (auto for_ever = await_for_ever(*awaited)) return raise(*std::move(for_ever));
    for (std::size_t k = 0; k <= count; ++k) f_.stack_[at + k].set_nil();
    lend_permit();
    f_.result_slot_ = static_cast<std::uint32_t>(at);
    f_.waits_on_ = kept;
    awaited->wait(f_);
    return suspend(waiting_for::future);
}

/// (cancel f)
interpreter::next interpreter::control_cancel(std::size_t at, std::size_t count, bool) {
    const value kept = f_.stack_[at + 1];
    auto* running = host_as<future>(kept);
    if (!running) return raise_type("cancel", 1, "a future", kept);
    return control_value(at, count, value::boolean(running->cancel()));
}

/// (%second-run join): a hedge runs its second branch.
interpreter::next interpreter::control_second_run(std::size_t at, std::size_t count, bool) {
    if (auto* group = host_as<join>(f_.stack_[at + 1])) group->note_second_run();
    return control_value(at, count, {});
}

// ---------------------------------------------------------------- semaphores

/// (semaphore n)
interpreter::next interpreter::control_semaphore(std::size_t at, std::size_t count, bool) {
    const value& given = f_.stack_[at + 1];
    if (!given.is_integer() || given.as_integer() < 1)
        return raise_type("semaphore", 1, "a positive integer", given);
    const auto permits = static_cast<std::size_t>(given.as_integer());
    f_.realm_->has_semaphores = true;
    return control_value(at, count, make_host(memory_, std::make_unique<semaphore>(permits)));
}

} // namespace heddle::lang
