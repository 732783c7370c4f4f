#include "limit_simulation.hpp"

#include <heddle/coro/spawn.hpp>
#include <heddle/coro/wait_point.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <ostream>
#include <random>

namespace heddle::testing {

namespace {

using coro::clock;
using std::chrono::milliseconds;

double seconds(clock::duration span) { return std::chrono::duration<double>(span).count(); }

struct bucket {
    double per_second = 0; // 0: no limit
    double capacity = 0;
    double level = 0;

    bucket(double per_minute, double bucket_seconds)
        : per_second(per_minute / 60),
          capacity(std::max(per_minute / 60 * bucket_seconds, per_minute > 0 ? 1.0 : 0.0)),
          level(capacity) {}
    bool limited() const { return per_second > 0; }
    void pass(double span) { level = std::min(capacity, level + per_second * span); }
    double wait_for(double amount) const {
        if (!limited() || level >= amount) return 0;
        return (std::min(amount, capacity) - level) / per_second;
    }
    void take(double amount) {
        if (limited()) level -= amount;
    }
};

/// Refuses what its buckets cannot pay. Input is paid on arrival, output when it is known.
class quota_service {
public:
    quota_service(const quota_model& quota, clock::time_point now)
        : quota_(quota), buckets_{bucket(quota.requests_per_minute, quota.bucket_seconds),
                                  bucket(quota.tokens_per_minute, quota.bucket_seconds),
                                  bucket(quota.input_tokens_per_minute, quota.bucket_seconds),
                                  bucket(quota.output_tokens_per_minute, quota.bucket_seconds)},
          last_(now) {}

    void pass(clock::time_point now) {
        const double span = seconds(now - last_);
        for (bucket& each : buckets_) {
            each.pass(span);
            each.take(each.per_second * span * quota_.taken_by_others);
        }
        last_ = now;
    }
    /// Empty: admitted. Else after how many seconds it might be.
    std::optional<double> arrive(double input, clock::time_point now) {
        pass(now);
        const bool full = quota_.max_in_flight != 0 && in_flight_ >= quota_.max_in_flight;
        const double wait =
            std::max({buckets_[0].wait_for(1), buckets_[1].wait_for(input),
                      buckets_[2].wait_for(input), buckets_[3].wait_for(1), full ? 1.0 : 0.0});
        if (wait > 0) return wait;
        ++in_flight_;
        buckets_[0].take(1);
        buckets_[1].take(input);
        buckets_[2].take(input);
        return std::nullopt;
    }
    void answer(double output, clock::time_point now) {
        pass(now);
        --in_flight_;
        buckets_[1].take(output);
        buckets_[3].take(output);
    }
    void change(double factor) {
        for (bucket& each : buckets_) {
            each.per_second *= factor;
            each.capacity *= factor;
        }
    }
    providers::rate_limit_headers headers() const {
        providers::rate_limit_headers rate;
        if (quota_.headers == reported_limits::nothing) return rate;
        const auto report = [](const bucket& from, auto& limit, auto& remaining, auto& reset) {
            if (!from.limited()) return;
            limit = static_cast<std::int64_t>(from.per_second * 60);
            const double part = std::max(from.level, 0.0) / from.capacity;
            remaining = static_cast<std::int64_t>(part * from.per_second * 60);
            reset = milliseconds(
                static_cast<std::int64_t>((from.capacity - from.level) / from.per_second * 1000));
        };
        report(buckets_[0], rate.requests_limit, rate.requests_remaining, rate.requests_reset);
        report(buckets_[1], rate.tokens_limit, rate.tokens_remaining, rate.tokens_reset);
        report(buckets_[2], rate.input_tokens_limit, rate.input_tokens_remaining,
               rate.input_tokens_reset);
        report(buckets_[3], rate.output_tokens_limit, rate.output_tokens_remaining,
               rate.output_tokens_reset);
        return rate;
    }
    double per_second(std::size_t which) const { return buckets_[which].per_second; }

private:
    quota_model quota_;
    std::array<bucket, 4> buckets_;
    unsigned in_flight_ = 0;
    clock::time_point last_;
};

providers::limiter_settings seeded(providers::limiter_settings settings, std::uint64_t seed) {
    settings.options.seed = seed;
    return settings;
}

struct harness {
    harness(const limit_scenario& of, std::uint64_t seed)
        : scenario(of), gate(loop, seeded(of.settings, seed)), service(of.quota, loop.now()),
          random(seed), measured_from(loop.now() + of.warm_up), ends(measured_from + of.measured) {}

    double spread(double mean, double sigma) {
        if (sigma <= 0) return mean;
        return std::lognormal_distribution<double>(std::log(mean) - sigma * sigma / 2,
                                                   sigma)(random);
    }
    bool measuring() const { return loop.now() >= measured_from && loop.now() < ends; }
    coro::call_context context() { return {&loop, nullptr, {}}; }
    void note_sent() {
        if (!measuring()) return;
        ++figures.sent;
        lately.push_back(loop.now());
        while (loop.now() - lately.front() > milliseconds(100)) lately.pop_front();
        figures.max_at_once = std::max<std::uint64_t>(figures.max_at_once, lately.size());
    }
    void note_used(std::size_t which, double amount) {
        if (measuring()) used[which] += amount;
    }

    const limit_scenario& scenario;
    boost::asio::io_context io{1};
    coro::event_loop loop{io, coro::event_loop::time::virtual_};
    providers::limiter_gate gate;
    quota_service service;
    std::mt19937_64 random;
    clock::time_point measured_from;
    clock::time_point ends;
    limit_figures figures;
    std::array<double, 4> used{};
    std::array<double, 4> offered{}; // what the quota was worth
    double busy = 0;                 // seconds that calls were under way
    std::deque<clock::time_point> lately;
};

coro::task<void> wait(harness* in, double span) {
    const auto until = in->loop.now() + std::chrono::duration_cast<clock::duration>(
                                            std::chrono::duration<double>(span));
    result<void> waited = co_await coro::sleep_until(in->context(), until);
    (void)waited;
}

/// One call with its tries.
coro::task<void> call(harness* in, ports::chat_request* request) {
    const load_model& load = in->scenario.load;
    const double input = std::max(1.0, in->spread(load.input_tokens, load.spread));
    const double output = std::max(1.0, in->spread(load.output_tokens, load.spread));
    providers::call_demand demand;
    demand.request = request;
    demand.input_tokens = static_cast<std::int64_t>(in->spread(input, load.guess_error));
    for (demand.attempt = 1; in->loop.now() < in->ends; ++demand.attempt) {
        providers::call_permit permit = in->gate.try_acquire(demand);
        if (!permit) {
            auto granted = co_await in->gate.acquire(demand, in->context());
            permit = std::move(granted).value();
        }
        in->note_sent();
        const std::optional<double> refused = in->service.arrive(input, in->loop.now());
        providers::call_outcome outcome;
        const providers::rate_limit_headers at_arrival = in->service.headers();
        outcome.limits = &at_arrival;
        if (!refused) {
            in->note_used(0, 1);
            in->note_used(1, input);
            in->note_used(2, input);
            const double takes = in->spread(seconds(load.latency), load.latency_spread);
            if (in->measuring()) in->busy += takes;
            co_await wait(in, takes);
            in->service.answer(output, in->loop.now());
            in->note_used(1, output);
            in->note_used(3, output);
            ports::token_usage usage;
            usage.input = static_cast<std::int64_t>(input);
            usage.output = static_cast<std::int64_t>(output);
            outcome.status = 200;
            outcome.usage = &usage;
            permit.settle(outcome);
            co_return;
        }
        if (in->measuring()) ++in->figures.limited;
        co_await wait(in, in->spread(seconds(load.refusal_latency), load.latency_spread));
        error failure(ports::llm_errc::rate_limit, "too many requests");
        double pause = std::uniform_real_distribution<double>(0, 1)(in->random);
        if (in->scenario.quota.retry_after) {
            const auto asked = milliseconds(1000) * static_cast<std::int64_t>(std::ceil(*refused));
            failure = std::move(failure).with_retry_after(asked);
            pause = std::max(pause, seconds(asked));
        }
        outcome.status = 429;
        outcome.failure = &failure;
        permit.settle(outcome);
        co_await wait(in, pause);
    }
}

coro::task<void> client(harness* in, std::uint64_t flow) {
    ports::chat_request request;
    request.model = "m";
    request.scheduling.flow = flow;
    while (in->loop.now() < in->ends) co_await call(in, &request);
}

/// Sums up what the quota was worth, and changes it.
coro::task<void> keep_account(harness* in) {
    co_await wait(in, seconds(in->scenario.warm_up));
    const double half = seconds(in->scenario.measured) / 2;
    const double share = 1 - in->scenario.quota.taken_by_others;
    for (int part = 0; part < 2; ++part) {
        for (std::size_t i = 0; i < 4; ++i) {
            in->offered[i] += in->service.per_second(i) * half * share;
        }
        co_await wait(in, half);
        if (part == 0) {
            in->service.pass(in->loop.now());
            in->service.change(in->scenario.quota.changes_by);
        }
    }
}

} // namespace

limit_figures simulate(const limit_scenario& scenario, std::uint64_t seed) {
    harness in(scenario, seed);
    const auto rethrow = [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    };
    coro::spawn(in.loop, keep_account(&in), rethrow);
    for (unsigned i = 0; i < scenario.load.clients; ++i) {
        coro::spawn(in.loop, client(&in, i % 4), rethrow);
    }
    in.loop.run();
    for (std::size_t i = 0; i < 4; ++i) {
        if (in.offered[i] > 0) {
            in.figures.used = std::max(in.figures.used, in.used[i] / in.offered[i]);
        }
    }
    if (scenario.quota.max_in_flight != 0) {
        const double places = scenario.quota.max_in_flight * seconds(scenario.measured);
        in.figures.used = std::max(in.figures.used, in.busy / places);
    }
    return in.figures;
}

void PrintTo(const limit_scenario& of, std::ostream* out) { *out << of.name; }

std::vector<limit_scenario> limit_scenarios() {
    std::vector<limit_scenario> scenarios;
    const auto add = [&](std::string name) -> limit_scenario& {
        limit_scenario& each = scenarios.emplace_back();
        each.name = std::move(name);
        return each;
    };
    {
        auto& each = add("headers, 600 requests a minute");
        each.quota.requests_per_minute = 600;
        each.quota.headers = reported_limits::requests_and_tokens;
    }
    {
        auto& each = add("headers, 500,000 tokens a minute");
        each.quota.requests_per_minute = 5'000;
        each.quota.tokens_per_minute = 500'000;
        each.quota.headers = reported_limits::requests_and_tokens;
    }
    {
        auto& each = add("headers, input and output apart");
        each.quota.requests_per_minute = 1'000;
        each.quota.input_tokens_per_minute = 800'000;
        each.quota.output_tokens_per_minute = 160'000;
        each.quota.headers = reported_limits::split_tokens;
    }
    {
        auto& each = add("headers, another program takes 40 %");
        each.quota.requests_per_minute = 1'200;
        each.quota.taken_by_others = 0.4;
        each.quota.headers = reported_limits::requests_and_tokens;
    }
    {
        auto& each = add("headers, 20,000 requests a minute");
        each.quota.requests_per_minute = 20'000;
        each.quota.headers = reported_limits::requests_and_tokens;
        each.load.clients = 3'000;
        each.measured = std::chrono::seconds(600);
    }
    {
        auto& each = add("no headers, Retry-After, requests");
        each.quota.requests_per_minute = 600;
    }
    {
        auto& each = add("no headers, no Retry-After, requests");
        each.quota.requests_per_minute = 600;
        each.quota.retry_after = false;
    }
    {
        auto& each = add("no headers, Retry-After, tokens");
        each.quota.tokens_per_minute = 800'000;
    }
    {
        auto& each = add("no headers, a bucket of 5 s");
        each.quota.requests_per_minute = 1'200;
        each.quota.bucket_seconds = 5;
    }
    {
        auto& each = add("no headers, 60 requests a minute");
        each.quota.requests_per_minute = 60;
        each.warm_up = std::chrono::seconds(3'600);
        each.measured = std::chrono::seconds(7'200);
    }
    {
        auto& each = add("no headers, 40 in flight");
        each.quota.max_in_flight = 40;
        each.warm_up = std::chrono::seconds(1'200);
    }
    {
        auto& each = add("no headers, the quota doubles");
        each.quota.requests_per_minute = 600;
        each.quota.changes_by = 2;
        each.measured = std::chrono::seconds(7'200);
    }
    {
        auto& each = add("no headers, the quota halves");
        each.quota.requests_per_minute = 1'200;
        each.quota.changes_by = 0.5;
        each.measured = std::chrono::seconds(7'200);
    }
    {
        auto& each = add("headers, enforced by the second");
        each.quota.requests_per_minute = 1'800;
        each.quota.bucket_seconds = 1;
        each.quota.headers = reported_limits::requests_and_tokens;
    }
    {
        auto& each = add("limits given by the user");
        each.quota.requests_per_minute = 900;
        each.quota.tokens_per_minute = 900'000;
        each.settings.options.per_minute = {900, 900'000, std::nullopt, std::nullopt};
    }
    return scenarios;
}

} // namespace heddle::testing
