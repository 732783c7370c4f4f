// Statistics of a runtime, for metrics.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

/// Statistics of one thread, or of all together. Counters start at zero when the runtime is
/// created.
struct call_stats {
    std::uint64_t running = 0;            ///< calls in progress, without queued ones
    std::uint64_t queued = 0;             ///< calls that wait in the queue
    std::uint64_t waiting_for_limit = 0;  ///< requests to models that wait for a limit of a service
    std::uint64_t waiting_for_budget = 0; ///< requests to models that wait for a budget
    std::uint64_t requests_running = 0;   ///< calls of tasks in progress
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t cancelled = 0; ///< including those that missed a deadline
    std::uint64_t requests = 0;  ///< sent to services, retries included
    std::uint64_t input_tokens = 0;
    std::uint64_t output_tokens = 0;
    double cost_usd = 0;        ///< of calls whose price is known
    std::uint64_t unpriced = 0; ///< calls that used tokens of an unknown price
    /// How often the top level of a program was evaluated: once on each thread, or once for each
    /// call if calls cannot share the program.
    std::uint64_t loads = 0;
};

struct runtime_stats {
    call_stats all;
    std::uint64_t refused = 0; ///< with runtime_errc::overloaded or stopped
    std::vector<call_stats> threads;
};

/// JSON for monitoring: the members of `all`, "refused", and "threads".
[[nodiscard]] json to_json(const runtime_stats& stats);

} // namespace heddle
