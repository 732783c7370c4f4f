// A cache of responses.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/ports/forwarding_llm_port.hpp>
#include <heddle/ports/response_store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace heddle::providers {

struct cache_counters {
    std::uint64_t hits = 0;
    std::uint64_t shared = 0; ///< used the outcome of an equal call in progress
    std::uint64_t misses = 0;
};

/// A provider that stores responses and returns them for equal requests to the same service. Equal
/// calls that are in progress at the same time share one call (single flight): if it fails with an
/// error that will recur for the same request, all fail with it; after another error one of the
/// others tries, once. The second calls of equal hedges share another one. Errors, refusals and
/// truncated responses are never stored. `scheduling.cache` excludes a call from sharing.
///
/// A response from the cache has `attempts` 0 and no tokens: nothing was charged. A streamed call
/// receives its text in one piece. A failing store is logged once, and the call is made.
class cached_provider final : public ports::forwarding_llm_port {
public:
    /// `service` distinguishes services of the same name: address, account, and everything else
    /// besides the request on which responses depend. `inner`, `store` and `log` outlive this.
    cached_provider(ports::llm_port& inner, ports::response_store& store, log_port& log,
                    std::string service);
    ~cached_provider() override;
    cached_provider(const cached_provider&) = delete;
    cached_provider& operator=(const cached_provider&) = delete;

    [[nodiscard]] bool keeps_responses() const noexcept override { return true; }
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;

    [[nodiscard]] const cache_counters& counters() const noexcept { return counters_; }

private:
    struct flight;
    class seat;

    [[nodiscard]] std::string key_of(const ports::chat_request& request) const;
    /// The outcome of an equal call; or nothing, and the caller makes the call for all.
    [[nodiscard]] coro::task<std::optional<result<ports::chat_response>>> follow(
        const std::string* key, std::optional<seat>* leading, coro::call_context context);
    /// The cached response; llm_errc::not_found if there is none.
    [[nodiscard]] coro::task<result<ports::chat_response>> kept_only(
        const std::string* key, const ports::chat_delta_sink* on_delta, coro::call_context context);
    [[nodiscard]] coro::task<result<ports::chat_response>> ask(
        const ports::chat_request& request, const ports::chat_delta_sink* on_delta,
        coro::call_context context);
    [[nodiscard]] static result<ports::chat_response> hand_out(
        ports::chat_response known, const ports::chat_delta_sink* on_delta);
    /// Null `on_delta`: not streamed.
    [[nodiscard]] coro::task<result<ports::chat_response>> answer(
        const ports::chat_request& request, const ports::chat_delta_sink* on_delta,
        coro::call_context context);
    [[nodiscard]] coro::task<std::optional<ports::chat_response>> look_up(
        std::string key, coro::call_context context);
    [[nodiscard]] coro::task<void> keep(std::string key, const ports::chat_response& response,
                                        coro::call_context context);
    void report(const error& failure);

    ports::response_store& store_;
    log_port& log_;
    std::string service_;
    struct flights;
    std::unique_ptr<flights> flights_;
    cache_counters counters_;
    bool reported_ = false;
};

} // namespace heddle::providers
