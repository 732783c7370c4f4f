// Limits of a run that can be changed from outside.
#pragma once

#include "batch/request/batch_request.hpp"

#include <heddle/base/error.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace heddle::cli {

/// Values by the names of the options: "concurrency", "budget-usd", "max-calls", "stop-after" (of
/// --on-error), "retry-rows", "timeout" (seconds). Of a process only, and not kept: "deadline", in
/// seconds from now on.
using run_limits = std::map<std::string, double, std::less<>>;

/// The value of a limit that is lifted. In JSON it is null.
inline constexpr double no_limit = std::numeric_limits<double>::infinity();
inline constexpr const char* deadline_limit = "deadline";
inline constexpr const char* known_limits =
    "concurrency=N, budget-usd=X, max-calls=N, stop-after=N, retry-rows=N, timeout=S, deadline=S";

/// "max-calls=100", "max-calls=none". Errors: invalid_argument that names the limits or the range.
[[nodiscard]] result<std::pair<std::string, double>> parse_limit(const std::string& text);
/// Errors: as parse_limit.
[[nodiscard]] result<void> check_limit(const std::string& name, double value);

/// The value as a bound; nothing: it is lifted.
[[nodiscard]] std::optional<double> amount_of(double value) noexcept;
[[nodiscard]] std::optional<std::uint64_t> count_of(double value) noexcept;

/// Those of a command that are kept; without those that it does not have.
[[nodiscard]] run_limits limits_of(const batch_request& asked);
/// Makes them those of the command.
void adopt_limits(batch_request& asked, const run_limits& limits);

/// What `heddle runs set` has changed, and the command under which it has.
struct set_limits {
    run_limits set;
    run_limits of_command; ///< of the last one

    /// What holds for a command with these limits: a command with another value for the option
    /// than the last one had takes that. Drops what does not hold, and notes the command.
    [[nodiscard]] run_limits take(run_limits command);
};

/// "budget-usd=5, max-calls=100"
[[nodiscard]] std::string text_of(const run_limits& limits);

} // namespace heddle::cli
