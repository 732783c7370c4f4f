// How near to a quota the limiter comes, and how many 429s that costs: simulated on the virtual
// clock, in seconds of real time. Then what a call costs that waits for nothing.
//
//   bench_limiter_simulation [SEEDS]
#include "limit_simulation.hpp"

#include <heddle/providers/routing/prefix_hash.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace heddle;

void print_scenario(const testing::limit_scenario& scenario, unsigned seeds) {
    double worst_share = 0, worst_used = 1e9, share = 0, used = 0;
    std::uint64_t sent = 0, most = 0;
    for (unsigned seed = 1; seed <= seeds; ++seed) {
        const testing::limit_figures figures = testing::simulate(scenario, seed);
        worst_share = std::max(worst_share, figures.limited_share());
        worst_used = std::min(worst_used, figures.used);
        share += figures.limited_share() / seeds;
        used += figures.used / seeds;
        sent += figures.sent;
        most = std::max(most, figures.max_at_once);
    }
    std::printf("%-40s %8llu %8.3f %8.3f %8.1f %8.1f %8llu\n", scenario.name.c_str(),
                static_cast<unsigned long long>(sent / seeds), 100 * share, 100 * worst_share,
                100 * used, 100 * worst_used, static_cast<unsigned long long>(most));
}

/// Nanoseconds of acquire and settle, with nothing to wait for.
double uncontended(bool with_headers) {
    boost::asio::io_context io{1};
    coro::event_loop loop(io);
    providers::limiter_gate gate(loop);
    ports::chat_request request;
    request.model = "m";
    providers::call_demand demand;
    demand.request = &request;
    demand.input_tokens = 1000;
    providers::rate_limit_headers headers;
    if (with_headers) {
        headers.requests_limit = headers.requests_remaining = 1'000'000'000;
        headers.tokens_limit = headers.tokens_remaining = 1'000'000'000'000;
    }
    ports::token_usage usage{1000, 300, 0, 0, 0};
    providers::call_outcome outcome;
    outcome.status = 200;
    outcome.usage = &usage;
    outcome.limits = &headers;
    constexpr int calls = 2'000'000;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
        providers::call_permit permit = gate.try_acquire(demand);
        if (!permit) std::abort();
        permit.settle(outcome);
    }
    const std::chrono::duration<double, std::nano> span = std::chrono::steady_clock::now() - began;
    return span.count() / calls;
}

/// Nanoseconds of the hash by which calls that begin alike are found.
double hashing() {
    ports::chat_request request;
    request.model = "m";
    request.messages.resize(2);
    request.messages[0].text = std::string(20'000, 'x');
    constexpr int calls = 200'000;
    std::uint64_t all = 0;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) {
        request.messages[0].text[static_cast<std::size_t>(i % 4'000)] = 'y';
        all += providers::prefix_hash(request, 4'096).value_or(0);
    }
    const std::chrono::duration<double, std::nano> span = std::chrono::steady_clock::now() - began;
    if (all == 0) std::abort();
    return span.count() / calls;
}

} // namespace

int main(int count, char** arguments) {
    // 0: only what calls cost.
    const int asked = count > 1 ? std::atoi(arguments[1]) : 5;
    const unsigned seeds = asked > 0 ? static_cast<unsigned>(asked) : 1;
    std::printf(
        "%u seeds; after the warm-up                  calls    429 %%  worst %%   used %%"
        "  least %%  in .1 s\n",
        seeds);
    for (const auto& scenario : testing::limit_scenarios()) {
        if (asked != 0) print_scenario(scenario, seeds);
    }
    std::printf("\na call that waits for nothing   %6.0f ns, with headers %6.0f ns\n",
                uncontended(false), uncontended(true));
    std::printf("the hash of 1,024 tokens        %6.0f ns\n", hashing());
}
