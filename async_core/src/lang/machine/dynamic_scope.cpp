#include <heddle/lang/dynamic_scope.hpp>

#include "extents.hpp"
#include "future.hpp"
#include "join.hpp"

#include <heddle/lang/call_site.hpp>
#include <heddle/lang/counted_extent.hpp>
#include <heddle/lang/sandbox_policy.hpp>

namespace heddle::lang {

const dynamic_scope& root_scope() noexcept {
    static const dynamic_scope root;
    return root;
}

scope_ref scope_ref::from_value(const value& kept) noexcept {
    return host_as<dynamic_scope>(kept) ? scope_ref(kept) : scope_ref();
}

void dynamic_scope::visit_values(value_visitor& visitor) const {
    for (const value* held :
         {&outer.as_value(), &concurrency.as_value(), &sandbox.as_value(), &limits.as_value(),
          &time.as_value(), &cleanup_time.as_value(), &counted.as_value(), &spawned.as_value(),
          &called_by.as_value(), &settings, &loop_config, &receiver})
        visitor.visit(*held);
}

bool dynamic_scope::is_inside(const value& mark) const noexcept {
    if (mark.is_nil()) return false;
    if (limits && limits->is_bound_by(mark)) return true;
    bool deadlines = true; // of scopes around a cleanup do not count
    for (const dynamic_scope* each = this;; each = &*each->outer) {
        if (each->counted.as_value().identical(mark)) return true;
        if (deadlines && each->time.as_value().identical(mark)) return true;
        deadlines = deadlines && !each->cleanup;
        if (each->outer.is_root()) return false;
    }
}

} // namespace heddle::lang
