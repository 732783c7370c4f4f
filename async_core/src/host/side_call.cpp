#include <heddle/host/side_call.hpp>

#include <heddle/host/session.hpp>
#include <heddle/lang/call_site.hpp>
#include <heddle/lang/machine.hpp>

namespace heddle::host {

side_call::side_call(session& session, const lang::scope_ref& scope) : scope_(scope) {
    const auto& site = scope->called_by;
    if (session.is_durable() || !site || site->depth != scope->call_depth) return;
    stand_in_ = lang::start_fiber(session.realm(), {}, {}, scope);
    stand_in_->driver = this;
    scope_ = lang::scope_of_part(scope, *stand_in_);
    lang::machine::lend_permit(*site->caller, *stand_in_);
}

side_call::~side_call() {
    if (stand_in_) lang::machine::leave_place(*stand_in_);
}

coro::task<result<void>> side_call::begin(coro::call_context context) {
    while (stand_in_ && !lang::machine::take_place(*stand_in_)) {
        const result<void> waited = co_await granted(context);
        if (!waited) co_return waited;
    }
    co_return result<void>();
}

coro::task<result<void>> side_call::end(coro::call_context context) {
    while (stand_in_ && !lang::machine::may_leave_place(*stand_in_)) {
        const result<void> waited = co_await granted(context);
        if (!waited) co_return waited;
    }
    if (stand_in_) lang::machine::leave_place(*stand_in_);
    stand_in_.reset();
    co_return result<void>();
}

coro::task<result<void>> side_call::granted(coro::call_context context) {
    const coro::wake woken = co_await woken_.wait(context);
    if (woken == coro::wake::notified) co_return result<void>();
    auto stop = context.stop_error();
    co_return stop ? *std::move(stop) : error::cancelled(cancel_reason::sibling);
}

} // namespace heddle::host
