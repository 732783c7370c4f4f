// What calls of a kind have cost so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// What a budget sets aside for a call.
struct cost_estimate {
    double usd = 0;          ///< what such a call costs on average
    double ceiling = 0;      ///< what one hardly exceeds: set aside while others run beside it
    bool guessed = false;    ///< nothing bounds what the call may cost, and none like it has ended
    bool seen = false;       ///< calls of this kind have ended: `usd` is their mean
    std::uint64_t ended = 0; ///< how many

    /// What a call counts that was sent and whose cost nobody reports. Before one of its kind has
    /// ended, `usd` is the input alone: counting that, calls that all time out would be free.
    [[nodiscard]] double if_unreported() const noexcept { return seen ? usd : ceiling; }
};

/// Costs of calls by their kind: task, provider and model. Threads: its shard's only.
class cost_history {
public:
    void add(std::string_view kind, double usd);
    /// The estimate from the calls of a kind; `first` when there was none.
    [[nodiscard]] cost_estimate estimate(std::string_view kind, const cost_estimate& first) const;

private:
    static constexpr std::size_t max_kinds = 1000; ///< a program may define tasks in a loop
    struct figures {
        std::uint64_t count = 0;
        double mean = 0;
        double squares = 0; ///< of the deviations from the mean
    };
    std::map<std::string, figures, std::less<>> kinds_;
};

/// The estimate for one call, as of when it is asked for. What it points to outlives it.
struct expected_cost {
    const cost_history* history = nullptr; ///< null: `first` holds
    std::string_view kind;
    cost_estimate first;

    [[nodiscard]] cost_estimate now() const {
        return history ? history->estimate(kind, first) : first;
    }
};

} // namespace heddle::tasks
