#include "extents.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include <cmath>
#include <string>

namespace heddle::lang {

void set_deadline(heap& memory, dynamic_scope& scope, double now, double seconds, bool of_sandbox) {
    const auto mark = host_ref<time_extent>::make(
        memory, std::make_unique<time_extent>(now, seconds, of_sandbox));
    if (const double end = mark->cleanup_end(now); end < scope.cleanup_end) {
        scope.cleanup_end = end;
        scope.cleanup_time = mark;
    }
    if (scope.deadline <= mark->end()) return;
    scope.deadline = mark->end();
    scope.time = mark;
}

scope_ref without_deadline(heap& memory, const scope_ref& scope) {
    if (std::isinf(scope->deadline)) return scope;
    return scope.open(memory, [](dynamic_scope& inner) {
        inner.deadline = std::numeric_limits<double>::infinity();
        inner.time = {};
        inner.cleanup = true;
    });
}

namespace {

constexpr const char* time_is_over = "the time limit of 'with' or 'timeout' has passed";

} // namespace

error end_of_time(const time_extent& ended) {
    return {errc::timeout,
            time_is_over + (" (" + print_value(value::real(ended.seconds())) + " s)")};
}

error deadline_error(const dynamic_scope& scope) {
    if (!scope.time) return error(errc::timeout, time_is_over);
    return with_extent(end_of_time(*scope.time), scope.time.as_value());
}

} // namespace heddle::lang
