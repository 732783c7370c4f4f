#include "host_call.hpp"

namespace heddle::embed {

coro::deadline deadline_after(coro::clock::time_point now,
                              std::chrono::nanoseconds pause) noexcept {
    const auto room = coro::clock::time_point::max() - now;
    if (pause >= room) return {};
    return coro::deadline(now + std::chrono::duration_cast<coro::clock::duration>(pause));
}

call_state state_of(const coro::call_context& context, std::string tag,
                    const std::stop_source& cancel) {
    call_state state;
    state.executor = context.loop->get_executor();
    if (!context.until.is_never()) state.deadline = context.until.at();
    state.tag = std::move(tag);
    state.cancel = cancel.get_token();
    return state;
}

error failure_of_host(error failure, const std::string& what) {
    if (!failure.is_cancelled()) return failure;
    return error(errc::internal, what + " has ended as cancelled, without a request: " +
                                     std::string(failure.message()))
        .with_hint("report the failure of an operation as an error of another kind");
}

} // namespace heddle::embed
