// What is known of an account's limits beforehand, and how a limiter behaves.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace heddle::providers::limits {

/// What a service counts. `tokens` is input and output together.
enum class measure : std::uint8_t { requests, tokens, input_tokens, output_tokens };
inline constexpr std::size_t measures = 4;
/// The place of a measure in an array of `measures` elements.
[[nodiscard]] constexpr std::size_t index_of(measure which) noexcept {
    return static_cast<std::size_t>(which);
}

/// Limits per minute that the user knows, by measure. They hold whatever the service says.
using known_limits = std::array<std::optional<std::int64_t>, measures>;

/// What the user allows, of a model or of all models of an account together.
struct account_bounds {
    known_limits per_minute;
    std::optional<unsigned> max_in_flight;
};

struct limiter_options {
    known_limits per_minute; ///< of one model
    /// In flight at first. Doubles with each round of responses until the first 429.
    unsigned first_in_flight = 32;
    /// Doubles after this time as well, where responses take longer; 0: it does not. To be longer
    /// than a 429 of the service takes.
    std::chrono::milliseconds doubles_every{0};
    unsigned max_in_flight = 16'384;
    double decrease = 0.75; ///< of what may be in flight, at a 429
    /// How much of a limit that the user has set may go at once after a pause; the rest is spread
    /// evenly. Of a limit that the service names, all that it says is left may go at once.
    std::chrono::milliseconds burst{10'000};
    /// The part of a limit that is left untouched, for what is counted differently over there.
    double reserve = 0.05;
    /// Ceiling of the cooldown after a 429 that names no time; doubles while nothing gets through.
    /// The cooldown is chance between nothing and the ceiling.
    std::chrono::milliseconds first_cooldown{500};
    std::chrono::milliseconds max_cooldown{30'000};
    /// What a service may ask for at most; a longer Retry-After is taken as this.
    std::chrono::milliseconds max_asked_cooldown{86'400'000};
    /// A call that a cooldown or a limit of the service would hold back for longer fails at once.
    std::chrono::milliseconds max_wait{120'000};
    /// After a cooldown the calls per second rise from a fifth to what was learned.
    std::chrono::milliseconds ramp{2'000};
    std::uint64_t seed = 0; ///< of the chance; 0: a different one in each process
    /// While interactive calls wait as well, one in so many that go is a batch call.
    unsigned batch_share = 8;
};

} // namespace heddle::providers::limits
