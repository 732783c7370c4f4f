#include "world_effect.hpp"

#include <heddle/coro/event_loop.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/text_intake.hpp>

#include <utility>

namespace heddle::host {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the caller awaits at once
coro::task<result<lang::value>> world_effect::text_value(effect_call& call, std::string text,
                                                         std::string what) {
    lang::heap& memory = call.session.memory();
    const auto refused = [&what] {
        return error(lang::errc::limit, what + " does not fit in the memory limit");
    };
    if (!memory.can_allocate(text.size())) co_return refused();
    lang::text_intake intake(memory, std::move(text));
    while (!intake.go_on()) {
        co_await coro::yield_now(*call.context.loop);
        if (auto stop = call.context.stop_error()) co_return *std::move(stop);
        // Others have run meanwhile.
        if (intake.needs() != 0 && !memory.can_allocate(intake.needs())) co_return refused();
    }
    co_return intake.take();
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the caller awaits at once
coro::task<result<std::string>> world_effect::content_of(effect_call& call, lang::value text) {
    constexpr std::size_t piece = 128 * 1024;
    const std::string_view bytes = lang::string_bytes(text);
    std::string content;
    content.reserve(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        if (at != 0) {
            co_await coro::yield_now(*call.context.loop);
            if (auto stop = call.context.stop_error()) co_return *std::move(stop);
        }
        content += bytes.substr(at, piece);
    }
    co_return content;
}

} // namespace heddle::host
