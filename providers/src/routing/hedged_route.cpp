#include <heddle/providers/routing/route.hpp>

#include <heddle/base/exceptions.hpp>
#include <heddle/coro/nursery.hpp>

#include "routing/kept_targets.hpp"
#include "routing/paid_targets.hpp"
#include "routing/target_request.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace heddle::providers {

using coro::call_context;
using coro::task;
using ports::chat_delta_sink;
using ports::chat_request;
using ports::chat_response;

namespace {

constexpr std::size_t nobody = 2;

/// The failure that is reported, with what the other call has cost.
error with_other(error shown, const std::optional<result<chat_response>>& other,
                 const route_target& target) {
    if (!other) return shown;
    std::vector<ports::lost_request> lost;
    std::uint32_t attempts = 0;
    if (*other) {
        ports::add_lost(lost, **other);
        sign_lost(lost, 0, target);
        attempts = (*other)->attempts;
    } else {
        add_lost_of(lost, other->error(), target);
        attempts = ports::attempts_of(other->error());
    }
    return ports::with_lost(ports::with_other_attempts(std::move(shown), attempts),
                            std::move(lost));
}

double tokens_of(const chat_response& response) noexcept {
    if (!response.usage) return 0;
    const auto sane = [](std::int64_t said) {
        return static_cast<double>(std::clamp<std::int64_t>(said, 0, 1'000'000'000));
    };
    return sane(response.usage->input) + sane(response.usage->output);
}

} // namespace

/// The last few latencies.
class hedged_route::latencies {
public:
    void add(coro::clock::duration took) {
        ring_[next_] = took;
        next_ = (next_ + 1) % ring_.size();
        count_ = std::min(count_ + 1, ring_.size());
        stale_ = stale_ || added_++ % 8 == 0;
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] coro::clock::duration at(double share) {
        if (std::exchange(stale_, false)) {
            sorted_ = ring_;
            std::sort(sorted_.begin(), sorted_.begin() + static_cast<std::ptrdiff_t>(count_));
            sorted_count_ = count_;
        }
        const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted_count_ - 1);
        return sorted_[static_cast<std::size_t>(place)];
    }

private:
    std::array<coro::clock::duration, 128> ring_{};
    std::array<coro::clock::duration, 128> sorted_{};
    std::size_t next_ = 0;
    std::size_t count_ = 0;
    std::size_t sorted_count_ = 0;
    std::size_t added_ = 0;
    bool stale_ = false;
};

/// One call and its second.
struct hedged_route::race {
    race(hedged_route& of, const chat_request& asked, chat_delta_sink sink, call_context context)
        : route(of), request(asked), on_delta(std::move(sink)),
          loop(*context.loop), cancels{coro::cancel_source(context.cancel),
                                       coro::cancel_source(context.cancel)} {}

    result<void> piece(std::size_t from, std::string_view text) {
        if (text.empty()) return {};
        if (winner == nobody) win(from);
        if (winner != from) return error::cancelled(cancel_reason::sibling);
        return on_delta ? on_delta(text) : result<void>();
    }
    void win(std::size_t which) {
        winner = which;
        first_byte = loop.now();
        cancels[1 - which].request(cancel_reason::sibling);
        changed.notify();
    }

    hedged_route& route;
    const chat_request& request;
    chat_delta_sink on_delta;
    bool streams = false;
    coro::event_loop& loop;
    std::array<coro::cancel_source, 2> cancels;
    std::array<coro::clock::time_point, 2> began{};
    std::array<std::optional<result<chat_response>>, 2> responses;
    coro::clock::time_point first_byte{};
    std::size_t winner = nobody;
    std::size_t running = 0;
    coro::wait_point changed;
};

hedged_route::hedged_route(std::string name, route_target first, route_target second,
                           hedge_rules rules)
    : name_(std::move(name)), targets_{std::move(first), std::move(second)}, rules_(rules),
      latencies_(std::make_unique<latencies>()) {}

hedged_route::~hedged_route() = default;

bool hedged_route::keeps_responses() const noexcept {
    return targets_[0].provider->keeps_responses() && targets_[1].provider->keeps_responses();
}

unsigned hedged_route::max_requests_at_once() const noexcept {
    return targets_[0].provider->max_requests_at_once() +
           targets_[1].provider->max_requests_at_once();
}

std::optional<coro::clock::duration> hedged_route::delay() const {
    if (rules_.after.count() > 0) return rules_.after;
    if (latencies_->count() < std::max(rules_.min_known, 1U)) return std::nullopt;
    return latencies_->at(rules_.percentile);
}

bool hedged_route::may_spend() const noexcept {
    const double calls = static_cast<double>(counters_.calls);
    if (static_cast<double>(counters_.hedges) + 1 > rules_.max_extra_calls * calls) return false;
    if (rules_.max_extra_tokens >= 1) return true;
    // The call at hand is reckoned as an average one.
    const double average = counters_.calls == 0 ? 0 : tokens_ / calls;
    return extra_tokens_ + average <= rules_.max_extra_tokens * tokens_;
}

task<result<void>> hedged_route::lane(race* in, std::size_t which, call_context context) {
    const route_target& target = in->route.targets_[which];
    in->began[which] = in->loop.now();
    std::optional<result<chat_response>> response;
    try {
        const target_request asked(in->request, target, which == 1);
        if (in->streams) {
            chat_delta_sink sink = [in, which](std::string_view text) {
                return in->piece(which, text);
            };
            result<chat_response> got =
                co_await target.provider->stream(*asked, std::move(sink), context);
            response.emplace(std::move(got));
        } else {
            result<chat_response> got = co_await target.provider->complete(*asked, context);
            response.emplace(std::move(got));
        }
    } catch (...) { // the other lane waits for the end of this one
        response.emplace(error_of_exception("the model"));
    }
    --in->running;
    if (*response) {
        sign(**response, target);
        if (in->winner == nobody) in->win(which);
    }
    in->responses[which] = std::move(response);
    in->changed.notify();
    co_return result<void>(); // its failure is not the other's
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the port requires that it
// outlives
task<result<chat_response>> hedged_route::run(const chat_request& request, chat_delta_sink on_delta,
                                              call_context context) {
    if (auto stop = context.stop_error()) co_return std::move(*stop).with_attempts(0);
    if (asks_for_kept(request)) {
        result<chat_response> kept =
            co_await kept_response(targets_, request, on_delta ? &on_delta : nullptr, context);
        co_return kept;
    }
    ++counters_.calls;
    race both(*this, request, on_delta, context);
    both.streams = static_cast<bool>(on_delta);
    coro::nursery calls(context);
    both.running = 1;
    calls.start([&] { return lane(&both, 0, context.with_cancel(both.cancels[0])); });
    const auto wait = request.scheduling.one_at_a_time ? std::nullopt : delay();
    const call_context patient{context.loop, nullptr, {}}; // an end reaches the calls, which end
    if (wait && may_spend()) {
        const coro::deadline until(context.loop->now() + *wait);
        bool waited = true;
        try {
            co_await both.changed.wait(patient.with_deadline(until));
        } catch (const std::bad_alloc&) { // no memory to wait, nor for another call
            waited = false;
        }
        const bool slow =
            waited && both.running == 1 && both.winner == nobody && !context.stop_error();
        // Asked again: others may have spent in the meantime.
        if (slow && may_spend()) {
            ++counters_.hedges;
            ++both.running;
            calls.start([&] { return lane(&both, 1, context.with_cancel(both.cancels[1])); });
        }
    }
    const result<void> joined = co_await calls.join();

    const std::size_t shown = both.winner == nobody ? 0 : both.winner;
    if (!both.responses[shown]) co_return joined ? out_of_memory() : joined.error();
    result<chat_response> response = std::move(*both.responses[shown]);
    const bool hedged = both.responses[1].has_value();
    const std::optional<result<chat_response>>& other = both.responses[1 - shown];
    if (!response) {
        error failure = signed_failure(std::move(response).error(), targets_[shown]);
        // The other one may have been cancelled, which is not a failure of its own.
        const bool both_lost = hedged && both.winner == nobody;
        if (both_lost) failure = std::move(failure).with_last_cause(other->error());
        co_return with_other(std::move(failure), other, targets_[1 - shown]);
    }
    sign_lost(response->lost, 0, targets_[shown]);
    const double tokens = tokens_of(*response);
    tokens_ += tokens;
    latencies_->add(both.first_byte - both.began[shown]);
    if (hedged) {
        extra_tokens_ += tokens; // about what the loser has cost
        if (*other) {
            ports::add_lost(response->lost, **other);
            response->attempts += (*other)->attempts;
        } else {
            add_lost_of(response->lost, other->error(), targets_[1 - shown]);
            response->attempts += ports::attempts_of(other->error());
        }
        if (shown == 1) ++counters_.hedges_won;
    }
    co_return response;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in run
task<result<chat_response>> hedged_route::complete(const chat_request& request,
                                                   call_context context) {
    return run(request, {}, context);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): as in run
task<result<chat_response>> hedged_route::stream(const chat_request& request,
                                                 chat_delta_sink on_delta, call_context context) {
    if (!on_delta) on_delta = [](std::string_view) { return result<void>(); };
    return run(request, std::move(on_delta), context);
}

} // namespace heddle::providers
