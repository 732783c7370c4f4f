#include "extents.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <cmath>
#include <string>

namespace heddle::lang {

void set_deadline(heap& memory, dynamic_scope& scope, double now, double seconds) {
    const double at = now + seconds;
    if (scope.deadline <= at) return;
    scope.deadline = at;
    scope.time = host_ref<time_extent>::make(memory, std::make_unique<time_extent>(seconds));
}

scope_ref without_deadline(heap& memory, const scope_ref& scope) {
    if (std::isinf(scope->deadline)) return scope;
    return scope.open(memory, [](dynamic_scope& inner) {
        inner.deadline = std::numeric_limits<double>::infinity();
        inner.time = {};
        inner.cleanup = true;
    });
}

error deadline_error(const dynamic_scope& scope) {
    std::string message = "the time given by 'with' or 'timeout' is over";
    if (!scope.time) return error(errc::timeout, std::move(message));
    message += " (" + print_value(value::real(scope.time->seconds())) + " s)";
    return with_extent(error(errc::timeout, std::move(message)), scope.time.as_value());
}

} // namespace heddle::lang
