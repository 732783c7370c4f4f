// Where a program called the tool or task that runs as a fiber of its own.
#pragma once

#include <heddle/lang/branch_group.hpp>
#include <heddle/lang/dynamic_scope.hpp>

namespace heddle::lang {

class realm;

/// Part of the scope of a called tool or task: its fiber belongs to no group, although the branch
/// that called it waits for its end. Threads: the session's only.
class call_site final : public host_object {
public:
    call_site(fiber& called_in, const dynamic_scope& scope)
        : place(place_of(called_in)), spawned(scope.spawned), outer(scope.called_by),
          caller(&called_in), depth(scope.call_depth) {}
    /// The same call, with its own deadline.
    struct ended_alone {};
    call_site(const call_site& other, ended_alone)
        : place(other.place), spawned(other.spawned), outer(other.outer), caller(other.caller),
          depth(other.depth), ends_alone(true) {}
    /// The same call, made by a part of it that runs on `stand_in`.
    call_site(const call_site& other, fiber& stand_in)
        : place(other.place), spawned(other.spawned), outer(other.outer), caller(&stand_in),
          depth(other.depth), ends_alone(other.ends_alone) {}
    [[nodiscard]] std::string_view type_name() const noexcept override { return "call"; }
    void visit_values(value_visitor& visitor) const override {
        for (const value* held : {&place.group, &spawned.as_value(), &outer.as_value()})
            visitor.visit(*held);
    }

    const branch_place place;
    const host_ref<future> spawned;  ///< the future that the caller is part of, or null
    const host_ref<call_site> outer; ///< of the caller, or null
    fiber* const caller;             ///< whose permit it has; valid until the call ends
    const unsigned depth;            ///< dynamic_scope::call_depth of the caller
    const bool ends_alone = false;   ///< a deadline ends the call and not what the caller waits for
};

/// The scope for the call of a tool or task that `caller` waits for. It has a call_site only in
/// futures, where tools may take its place, and if programs have created semaphores, to save memory
/// of calls in flight.
[[nodiscard]] scope_ref scope_of_call(fiber& caller);
/// That scope for a part of the call, whose permit is that of its stand-in
/// (machine::take_place). Precondition: it has a call_site.
[[nodiscard]] scope_ref scope_of_part(const scope_ref& scope, fiber& stand_in);
/// How many branches the `concurrency` of the scope allows at once; 0: no bound.
[[nodiscard]] std::size_t branch_bound(const scope_ref& scope) noexcept;
/// As scope_of_call, for a call with its own deadline, such as the timeout of a task.
[[nodiscard]] scope_ref with_call_ended_alone(realm& realm, const scope_ref& scope);

} // namespace heddle::lang
