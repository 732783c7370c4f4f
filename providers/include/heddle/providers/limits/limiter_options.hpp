// Known limits of an account, and options of limiters.
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

/// Limits per minute that the user knows, by measure. They apply whatever the service reports.
using known_limits = std::array<std::optional<std::int64_t>, measures>;

/// Bounds set by the user, for one model or for all models of an account together.
struct account_bounds {
    known_limits per_minute;
    std::optional<unsigned> max_in_flight;
};

struct limiter_options {
    known_limits per_minute; ///< of one model
    /// Maximum in flight at first. Doubles with each round of responses until the first 429.
    unsigned first_in_flight = 32;
    /// Doubles after this time as well, if responses take longer; 0: it does not. Must be longer
    /// than a 429 of the service takes.
    std::chrono::milliseconds doubles_every{0};
    unsigned max_in_flight = 16'384;
    double decrease = 0.75; ///< factor of the maximum in flight at a 429
    /// How much of a limit of the user may be used at once after a pause; the rest is spread
    /// evenly. Of a limit of the service, all that it reports as left may be used at once.
    std::chrono::milliseconds burst{10'000};
    /// The part of a limit that is not used, because the service may count differently.
    double reserve = 0.05;
    /// Ceiling of the cooldown after a 429 without a time; doubles until a request succeeds. The
    /// cooldown is random between zero and the ceiling.
    std::chrono::milliseconds first_cooldown{500};
    std::chrono::milliseconds max_cooldown{30'000};
    /// Bound on Retry-After; a longer one is shortened to it.
    std::chrono::milliseconds max_asked_cooldown{86'400'000};
    /// A call that a cooldown or a limit of the service would delay for longer fails at once.
    std::chrono::milliseconds max_wait{120'000};
    /// Time in which the calls per second rise from a fifth to the learned pace after a cooldown.
    std::chrono::milliseconds ramp{2'000};
    std::uint64_t seed = 0; ///< of random choices; 0: a different one in each process
    /// While interactive calls wait as well, one in this many calls is a batch call.
    unsigned batch_share = 8;
};

} // namespace heddle::providers::limits
