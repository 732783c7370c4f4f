// Routes: a choice among several models and services.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/llm_port.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::providers {

/// A model at a service.
struct route_target {
    ports::llm_port* provider = nullptr; ///< outlives the route
    std::string model;                   ///< empty: the one of the request
};

/// A set of kinds of errors.
class error_kinds {
public:
    constexpr error_kinds() = default;
    constexpr error_kinds(std::initializer_list<ports::llm_errc> kinds) {
        for (const auto kind : kinds) add(kind);
    }
    constexpr void add(ports::llm_errc kind) { bits_ |= 1U << static_cast<unsigned>(kind); }
    [[nodiscard]] constexpr bool has(ports::llm_errc kind) const {
        return (bits_ >> static_cast<unsigned>(kind) & 1U) != 0;
    }

private:
    std::uint32_t bits_ = 0;
};

/// Errors that another service may not have. Not authentication: a wrong key should be fixed, not
/// hidden; it can be added.
inline constexpr error_kinds curable_elsewhere{
    ports::llm_errc::rate_limit, ports::llm_errc::quota,      ports::llm_errc::overloaded,
    ports::llm_errc::server,     ports::llm_errc::connection, ports::llm_errc::request_timeout,
    ports::llm_errc::conflict};

/// When a second call is made in addition to a slow one, and what that may cost.
struct hedge_rules {
    /// After this time without a response (of a stream: without its first piece); 0: when the call
    /// takes longer than `percentile` of the recent ones.
    std::chrono::milliseconds after{0};
    double percentile = 0.95;
    unsigned min_known = 20;       ///< number of calls before the percentile is used
    double max_extra_calls = 0.05; ///< of all calls
    double max_extra_tokens = 1;   ///< of all tokens
};

/// Counters of a route.
struct route_counters {
    std::uint64_t calls = 0;
    std::uint64_t fallbacks = 0; ///< number of times that a call was passed to the next target
    std::uint64_t hedges = 0;    ///< number of second calls
    std::uint64_t hedges_won = 0;
};

/// Tries targets in order. If a target fails with an error of `on`, the next one is tried; any
/// other error, and one after text was delivered, ends the call. The last error has the earlier
/// ones as causes and lines of its trace. chat_response::provider names the target of the response,
/// whose attempts include those of the failed targets. A request for a kept response only is looked
/// up for every target. Deadline and cancellation are those of the call.
class fallback_route final : public ports::llm_port {
public:
    /// `targets` must not be empty. `log` outlives it. `also`, if not null: further errors after
    /// which the next target is asked.
    fallback_route(std::string name, std::vector<route_target> targets, log_port& log,
                   error_kinds on = curable_elsewhere,
                   bool (*also)(const error&) noexcept = nullptr);

    [[nodiscard]] std::string_view provider_name() const noexcept override { return name_; }
    [[nodiscard]] bool keeps_responses() const noexcept override;
    [[nodiscard]] unsigned max_requests_at_once() const noexcept override;
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;
    [[nodiscard]] const route_counters& counters() const noexcept { return counters_; }

private:
    struct progress;

    [[nodiscard]] bool hands_on(const error& failure, progress& so_far,
                                const coro::call_context& context);

    std::string name_;
    std::vector<route_target> targets_;
    log_port& log_;
    error_kinds on_;
    bool (*also_)(const error&) noexcept;
    route_counters counters_;
};

/// Makes a second call when the first takes long, within `rules`; the first success wins, and the
/// other call is cancelled and joined before the response is returned. The first piece decides a
/// stream, so that pieces of two responses are never mixed. A request for a kept response only is
/// looked up for the first, then for the second. Cancellation: both calls.
class hedged_route final : public ports::llm_port {
public:
    /// `second` may be the same as `first`: a request that hangs often does not hang again.
    hedged_route(std::string name, route_target first, route_target second, hedge_rules rules);
    ~hedged_route() override;
    hedged_route(const hedged_route&) = delete;
    hedged_route& operator=(const hedged_route&) = delete;

    [[nodiscard]] std::string_view provider_name() const noexcept override { return name_; }
    [[nodiscard]] bool keeps_responses() const noexcept override;
    [[nodiscard]] unsigned max_requests_at_once() const noexcept override;
    [[nodiscard]] coro::task<result<ports::chat_response>> complete(
        const ports::chat_request& request, coro::call_context context) override;
    [[nodiscard]] coro::task<result<ports::chat_response>> stream(
        const ports::chat_request& request, ports::chat_delta_sink on_delta,
        coro::call_context context) override;
    [[nodiscard]] const route_counters& counters() const noexcept { return counters_; }

private:
    struct race;
    class latencies;

    [[nodiscard]] coro::task<result<ports::chat_response>> run(const ports::chat_request& request,
                                                               ports::chat_delta_sink on_delta,
                                                               coro::call_context context);
    [[nodiscard]] static coro::task<result<void>> lane(race* in, std::size_t which,
                                                       coro::call_context context);
    [[nodiscard]] std::optional<coro::clock::duration> delay() const;
    [[nodiscard]] bool may_spend() const noexcept;

    std::string name_;
    route_target targets_[2];
    hedge_rules rules_;
    std::unique_ptr<latencies> latencies_;
    route_counters counters_;
    double tokens_ = 0; // of all calls with a response
    double extra_tokens_ = 0;
};

} // namespace heddle::providers
