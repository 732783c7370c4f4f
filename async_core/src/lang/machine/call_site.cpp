#include <heddle/lang/call_site.hpp>

#include "future.hpp"
#include "join.hpp"

#include <heddle/lang/fiber.hpp>

namespace heddle::lang {

scope_ref scope_of_call(const fiber& caller) {
    const scope_ref& scope = caller.scope();
    if (!caller.realm().has_semaphores) return scope;
    heap& memory = caller.realm().memory();
    return scope.open(memory, [&](dynamic_scope& inner) {
        inner.called_by = host_ref<call_site>::make(
            memory, std::make_unique<call_site>(place_of(caller), *scope));
    });
}

} // namespace heddle::lang
