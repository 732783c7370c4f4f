#include "parking/parking_port.hpp"

#include "parking/parking_lot.hpp"
#include "parking/parking_names.hpp"

#include <heddle/ports/response_codec.hpp>
#include <heddle/ports/step_memory.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

using coro::call_context;
using coro::task;
using ports::chat_request;
using ports::chat_response;

using parked = std::optional<result<chat_response>>;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<parked> parking_port::park(const chat_request& request, call_context context) {
    ports::step_memory* const step = context.step;
    if (!step || request.scheduling.cache == ports::cache_use::kept) co_return std::nullopt;
    const ports::digest128 asked = ports::digest_of(request, provider_name());
    // Settings of heddle.toml and routes make the request another one than the task's: where it is
    // the same, the response was found before.
    const std::optional<ports::kept_part> part = co_await step->take(asked, context);
    if (part) {
        result<chat_response> response = ports::decode_response(part->body);
        if (response) { // it was counted when it was taken from its batch
            response->attempts = 0;
            response->lost.clear();
            response->usage = ports::token_usage{};
            response->usage->of_cache = true;
        }
        co_return parked(std::move(response));
    }
    const std::optional<ports::kept_part> refusal =
        co_await step->take(refusal_key(asked), context);
    if (refusal) {
        parked failed(result<chat_response>(refusal_in(refusal->body)));
        co_return failed;
    }
    parking_lot* const lot = slot_.lot;
    if (!lot || !request.scheduling.park.value_or(lot->parks()) || !step->may_ask())
        co_return std::nullopt;
    auto rendered = batches_.render(request);
    if (!rendered) co_return parked(std::move(rendered).error().with_attempts(0));
    store::parked_call call;
    const ports::step_place place = step->place();
    call.row = place.row;
    call.path = place.path;
    call.content = asked;
    call.service = provider_name();
    call.model = request.model;
    call.body = std::move(rendered->body);
    constexpr std::size_t room = 4096; // of an upload, around its calls
    const std::size_t most = std::min(batches_.limits().max_bytes, parking_lot::max_batch_bytes);
    if (call.body.size() + 2 * room > most) co_return std::nullopt;
    if (auto kept = lot->park(std::move(call)); !kept)
        co_return parked(std::move(kept).error().with_attempts(0));
    co_await step->park(context);
    // It costs nothing here: what it costs is counted with its response.
    if (auto stop = context.stop_error()) co_return parked(std::move(*stop).with_attempts(0));
    co_return parked(error::cancelled(cancel_reason::shutdown).with_attempts(0));
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> parking_port::complete(const chat_request& request,
                                                   call_context context) {
    parked ended = co_await park(request, context);
    if (ended) co_return *std::move(ended);
    result<chat_response> response = co_await inner_.complete(request, context);
    co_return response;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
task<result<chat_response>> parking_port::stream(const chat_request& request,
                                                 ports::chat_delta_sink on_delta,
                                                 call_context context) {
    parked ended = co_await park(request, context);
    if (ended) {
        if (*ended && !(*ended)->text.empty()) {
            const result<void> taken = on_delta((*ended)->text);
            if (!taken) co_return taken.error();
        }
        co_return *std::move(ended);
    }
    result<chat_response> response = co_await inner_.stream(request, std::move(on_delta), context);
    co_return response;
}

} // namespace heddle::cli
