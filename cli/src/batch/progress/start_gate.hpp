// When a further row of a batch may start.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/store/run_store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::cli {

/// What a batch may use, over all processes that work on the run.
struct batch_bounds {
    std::size_t concurrency = 64;            ///< rows in progress
    std::optional<double> budget_usd;        ///< of all model calls
    std::optional<std::uint64_t> max_calls;  ///< requests to models
    coro::deadline until;                    ///< of this process: no row starts later
    std::optional<std::uint64_t> max_failed; ///< as many failed rows of this process stop it
};

/// Why no further row starts.
enum class stop_cause : std::uint8_t {
    none,
    budget,
    calls,
    deadline,
    interrupted,
    cancelled, ///< by `heddle runs cancel`
    failures,  ///< as --on-error has it
    all_fail,  ///< not one of the first rows had a result
    settings,  ///< of models: no row can run
    bad_row,   ///< with --strict
    outage,    ///< the service did not come back
    unpriced,  ///< a budget in dollars, and a call of unknown cost
    output,    ///< the results cannot be written
    input      ///< it could not be read to its end
};

/// "budget", for JSON.
[[nodiscard]] std::string_view to_string(stop_cause cause) noexcept;

enum class gate_answer : std::uint8_t {
    start, ///< a row may start
    wait,  ///< something has to change first: a row ends, a pause is over
    stop   ///< no row starts any more
};

/// What earlier processes of the run have done.
struct earlier_rows {
    earlier_rows() = default;
    explicit earlier_rows(const ports::run_totals& totals) noexcept
        : spent(totals.spent), sample{totals.begun + totals.done + totals.failed, totals.spent} {}
    earlier_rows(const ports::run_totals& totals, const store::row_sample& rows) noexcept
        : spent(totals.spent), sample(rows) {
        // After an edit rows may have begun anew, and nothing is left of what they used before.
        if (sample.spent.requests == 0 && spent.requests != 0) sample.rows = 0;
        if (sample.rows == 0 && totals.begun != 0) begun = {totals.begun, totals.spent};
    }

    ports::step_spending spent;
    store::row_sample sample; ///< what shows how much a row uses; without rows nothing does
    /// Where nothing does: rows that have not ended, for what is to be held back at least.
    store::row_sample begun;
};

/// Decides whether a row may start. Pure: it reads no clock. The bounds of cost and calls hold
/// back what the rows in progress will use, by the mean of the rows that have ended, so that they
/// are not passed by more than rows differ; while no row has ended, few start.
class start_gate {
public:
    start_gate(const batch_bounds& bounds, const earlier_rows& earlier)
        : bounds_(bounds), before_(earlier.spent), sample_(earlier.sample), begun_(earlier.begun) {}

    [[nodiscard]] gate_answer ask(coro::clock::time_point now);

    /// The bound that is used up, for rows that may need nothing of it; none: ask() decides.
    [[nodiscard]] stop_cause used_up() const noexcept;

    void row_started() noexcept { ++in_progress_; }
    /// `spent`: for the row in this process. `whole`: what it shows that a row uses, which is more
    /// if an earlier process has begun it.
    void row_ended(const ports::step_spending& spent, const ports::step_spending& whole) noexcept;
    void row_ended(const ports::step_spending& spent) noexcept { row_ended(spent, spent); }
    /// The row shows nothing about what a row uses: it waits for requests in batches, or what it
    /// asked was known from an earlier version of the program.
    void row_left(const ports::step_spending& spent) noexcept;
    void row_failed() noexcept { add_failed(1); }
    void add_failed(std::uint64_t rows) noexcept;
    [[nodiscard]] std::uint64_t rows_failed() const noexcept { return rows_failed_; }
    /// Stops where as many rows have failed as may; the bound may have changed.
    void look_at_failures() noexcept;
    /// What earlier processes have spent besides, as is found later.
    void add_earlier(const ports::step_spending& spent) noexcept { before_ += spent; }
    /// Sum of this process, rows in progress included. `parked`: what requests cost that wait for
    /// batches, by an estimate.
    void set_spent(const ports::step_spending& spent,
                   const ports::step_spending& parked = {}) noexcept {
        spent_ = spent;
        spent_ += parked;
        parked_ = parked;
    }

    /// No row starts from now on. The first cause stays.
    void stop(stop_cause cause) noexcept;
    [[nodiscard]] stop_cause cause() const noexcept { return cause_; }
    void pause(bool paused) noexcept { paused_ = paused; }
    [[nodiscard]] bool paused() const noexcept { return paused_; }

    [[nodiscard]] batch_bounds& bounds() noexcept { return bounds_; }
    [[nodiscard]] const batch_bounds& bounds() const noexcept { return bounds_; }
    [[nodiscard]] std::size_t in_progress() const noexcept { return in_progress_; }
    /// What is held back by a bound now rather than by --concurrency.
    [[nodiscard]] bool waits_for_budget() const noexcept { return waits_for_budget_; }
    /// What earlier processes have spent.
    [[nodiscard]] const ports::step_spending& spent_before() const noexcept { return before_; }
    /// What all processes have spent, this one as of the last set_spent().
    [[nodiscard]] ports::step_spending total() const noexcept;
    /// Mean cost of a row in US dollars; nothing before one has ended.
    [[nodiscard]] std::optional<double> mean_cost() const noexcept;

private:
    [[nodiscard]] bool has_budget() const noexcept {
        return bounds_.budget_usd || bounds_.max_calls;
    }
    /// Whether it is known what rows use.
    [[nodiscard]] bool has_mean() const noexcept { return rows_ended_ != 0 || sample_.rows != 0; }
    /// Mean of the rows of this process that have ended, else of those of earlier ones.
    [[nodiscard]] double mean(double whole, double before) const noexcept;
    /// What is to be held back for a row. A row that needed no request, as its responses were
    /// known, shows nothing about the next one.
    [[nodiscard]] double reserve(double whole, double before, double begun) const noexcept;
    /// The bound that one more row would pass, with all in progress as the mean; none: it fits.
    [[nodiscard]] stop_cause passed_bound(double rows) const noexcept;

    batch_bounds bounds_;
    ports::step_spending before_;
    store::row_sample sample_; ///< of earlier processes
    store::row_sample begun_;  ///< of earlier processes, without a sample
    ports::step_spending spent_;
    ports::step_spending parked_;
    ports::step_spending ended_;   ///< in this process, of the rows that have ended in it
    ports::step_spending whole_;   ///< in all processes, of those that show what a row uses
    std::uint64_t rows_ended_ = 0; ///< which show it
    std::uint64_t rows_paid_ = 0;  ///< of those: that have sent a request
    std::uint64_t rows_failed_ = 0;
    std::size_t in_progress_ = 0;
    stop_cause cause_ = stop_cause::none;
    bool paused_ = false;
    bool waits_for_budget_ = false;
};

} // namespace heddle::cli
