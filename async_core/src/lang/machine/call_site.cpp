#include <heddle/lang/call_site.hpp>

#include "future.hpp"
#include "join.hpp"

#include <heddle/lang/fiber.hpp>

namespace heddle::lang {

scope_ref scope_of_call(fiber& caller) {
    const scope_ref& scope = caller.scope();
    // A circle of awaits goes through a call only where a future makes it.
    const realm& owner = caller.realm();
    if (!owner.has_semaphores && !owner.has_tools && !scope->spawned) return scope;
    heap& memory = caller.realm().memory();
    return scope.open(memory, [&](dynamic_scope& inner) {
        inner.called_by =
            host_ref<call_site>::make(memory, std::make_unique<call_site>(caller, *scope));
    });
}

scope_ref scope_of_part(const scope_ref& scope, fiber& stand_in) {
    heap& memory = stand_in.realm().memory();
    return scope.open(memory, [&](dynamic_scope& inner) {
        inner.called_by = host_ref<call_site>::make(
            memory, std::make_unique<call_site>(*scope->called_by, stand_in));
    });
}

std::size_t branch_bound(const scope_ref& scope) noexcept {
    return scope->concurrency ? scope->concurrency->limit() : 0;
}

scope_ref with_call_ended_alone(realm& realm, const scope_ref& scope) {
    if (!scope->called_by) return scope;
    return scope.open(realm.memory(), [&](dynamic_scope& inner) {
        const call_site& site = *scope->called_by;
        inner.called_by = host_ref<call_site>::make(
            realm.memory(), std::make_unique<call_site>(site, call_site::ended_alone{}));
    });
}

} // namespace heddle::lang
