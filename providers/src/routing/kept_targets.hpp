// A response that is kept for one target of a route.
#pragma once

#include "routing/target_request.hpp"

#include <heddle/providers/routing/route.hpp>

#include <span>
#include <utility>

namespace heddle::providers {

[[nodiscard]] inline bool asks_for_kept(const ports::chat_request& request) noexcept {
    return request.scheduling.cache == ports::cache_use::kept;
}

/// The kept response of the first target that has one: nothing is sent, and whichever target made
/// it, it is a response of the route. All that `request` and `on_delta` (null: no stream) refer to,
/// and the targets, outlive the call. Errors: of the last target, llm_errc::not_found when none has
/// one.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): see above
[[nodiscard]] inline coro::task<result<ports::chat_response>> kept_response(
    std::span<const route_target> targets, const ports::chat_request& request,
    const ports::chat_delta_sink* on_delta, coro::call_context context) {
    for (std::size_t i = 0;; ++i) {
        const route_target& target = targets[i];
        const target_request asked(request, target);
        coro::task<result<ports::chat_response>> looked =
            on_delta ? target.provider->stream(*asked, *on_delta, context)
                     : target.provider->complete(*asked, context);
        result<ports::chat_response> response = co_await std::move(looked);
        if (response) sign(*response, target);
        const bool nothing = !response && response.error().code() ==
                                              ports::make_error_code(ports::llm_errc::not_found);
        if (!nothing || i + 1 == targets.size()) co_return response;
    }
}

} // namespace heddle::providers
