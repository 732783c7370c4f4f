// Counts of the model calls of a run.
#pragma once

#include <heddle/tasks/call/task_observer.hpp>

#include <cstdint>
#include <string>

namespace heddle::cli {

/// Where responses may come from without a request.
struct response_sources {
    bool cache = false;
    bool journal = false;
    bool batches = false; ///< of services, whose requests were sent before
    /// "from the journal or the cache".
    [[nodiscard]] std::string text() const;
};

/// Counts task calls for progress and for the last line of an interrupted run. Threads: the loop's.
class call_counts final : public tasks::task_observer {
public:
    std::uint64_t running = 0;
    std::uint64_t waiting = 0; ///< of those that run: for the budget
    std::uint64_t limited = 0; ///< of those that run: for a limit of the service or account
    std::uint64_t done = 0;
    std::uint64_t kept = 0; ///< complete without a request: their responses were in `sources`
    std::uint64_t failed = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t requests = 0; ///< of ended calls, including retries and repeated requests
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    double cost_usd = 0;        ///< of calls with a known price
    std::uint64_t unpriced = 0; ///< calls that used tokens of an unknown price
    /// Calls whose tokens the service did not report: the figures contain an estimate.
    std::uint64_t estimated = 0;
    std::uint64_t with_turns = 0;    ///< calls whose prompt held earlier turns of a conversation
    std::uint64_t earlier_turns = 0; ///< of all of them
    bool replayed = false;           ///< responses come from a recording: nothing is charged
    response_sources sources;

    void on_task_started(const tasks::task_started& event) noexcept override;
    void on_task_finished(const tasks::task_finished& event) noexcept override;

    void on_budget_wait(bool waits) noexcept override;
    void on_limit_wait(bool waits) noexcept override;

    [[nodiscard]] bool any() const noexcept {
        return done + kept + failed + cancelled + running != 0;
    }
    /// "3 calls done, 2 from the cache, 2 running, 1 waiting for the budget, 4 waiting for a limit,
    /// 1 failed, 1,200 tokens in, 340 out, $0.0042"; parts that are zero are left out, but for the
    /// first. Replayed responses are named in place of the calls. What has no price is named
    /// ("cost unknown", "$0.01 and 2 calls of unknown cost"), and so is what is estimated and how
    /// many earlier turns the calls carried.
    [[nodiscard]] std::string summary() const;
    /// The counts since `before`, an earlier copy. Running calls are in both.
    [[nodiscard]] call_counts since(const call_counts& before) const noexcept;

private:
    [[nodiscard]] std::string cost_text() const;
};

} // namespace heddle::cli
