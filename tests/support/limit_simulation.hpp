// A service with a quota and the clients that press on it, on the virtual clock.
#pragma once

#include <heddle/providers/limits/limiter_gate.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace heddle::testing {

/// What the headers of the service tell.
enum class reported_limits : std::uint8_t {
    nothing,
    requests_and_tokens, ///< as OpenAI: input and output together
    split_tokens         ///< as Anthropic: input and output apart
};

struct quota_model {
    double requests_per_minute = 0; ///< 0: unlimited, as below
    double tokens_per_minute = 0;   ///< input and output together
    double input_tokens_per_minute = 0;
    double output_tokens_per_minute = 0;
    double bucket_seconds = 60; ///< how much of the quota may be used at once
    unsigned max_in_flight = 0;
    reported_limits headers = reported_limits::nothing;
    bool retry_after = true; ///< whole seconds, rounded up, as the services send it
    /// Another program on the same account, that takes so much of everything.
    double taken_by_others = 0;
    /// From the middle of the simulation on the quota is so many times what it was.
    double changes_by = 1;
};

struct load_model {
    unsigned clients = 200; ///< each has one call under way or waiting
    double input_tokens = 1000;
    double output_tokens = 300;
    double spread = 0.5;      ///< sigma of the logarithms of both
    double guess_error = 0.2; ///< sigma of what the caller guesses
    std::chrono::milliseconds latency{3'000};
    double latency_spread = 0.4;
    std::chrono::milliseconds refusal_latency{60};
};

struct limit_scenario {
    std::string name;
    quota_model quota;
    load_model load;
    std::chrono::seconds warm_up{600};
    std::chrono::seconds measured{1'800};
    providers::limiter_settings settings{};
};

/// For messages of failed tests.
void PrintTo(const limit_scenario& of, std::ostream* out);

/// Of the measured part.
struct limit_figures {
    std::uint64_t sent = 0;
    std::uint64_t limited = 0;     ///< 429
    double used = 0;               ///< of the scarcest part of the quota, 1: all of it
    std::uint64_t max_at_once = 0; ///< sent within 100 ms
    [[nodiscard]] double limited_share() const {
        return sent == 0 ? 0 : static_cast<double>(limited) / static_cast<double>(sent);
    }
};

[[nodiscard]] limit_figures simulate(const limit_scenario& scenario, std::uint64_t seed);

/// What the bench prints and the test asserts.
[[nodiscard]] std::vector<limit_scenario> limit_scenarios();

} // namespace heddle::testing
