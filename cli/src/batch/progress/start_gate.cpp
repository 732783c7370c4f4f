#include "batch/progress/start_gate.hpp"

#include <algorithm>

namespace heddle::cli {

namespace {

/// Rows at once while nobody knows what one costs, and there is a bound.
constexpr std::size_t unknown_cost_rows = 4;
/// Sums of dollars that were added in another order differ by less.
constexpr double rounding_usd = 1e-9;

} // namespace

std::string_view to_string(stop_cause cause) noexcept {
    switch (cause) {
    case stop_cause::none: return "none";
    case stop_cause::budget: return "budget";
    case stop_cause::calls: return "max-calls";
    case stop_cause::deadline: return "deadline";
    case stop_cause::interrupted: return "interrupted";
    case stop_cause::cancelled: return "cancelled";
    case stop_cause::failures: return "failures";
    case stop_cause::all_fail: return "all-fail";
    case stop_cause::settings: return "settings";
    case stop_cause::bad_row: return "bad-row";
    case stop_cause::outage: return "outage";
    case stop_cause::unpriced: return "unpriced";
    case stop_cause::output: return "output";
    case stop_cause::input: return "input";
    }
    return "none";
}

gate_answer start_gate::ask(coro::clock::time_point now) {
    waits_for_budget_ = false;
    if (cause_ != stop_cause::none) return gate_answer::stop;
    if (bounds_.until.passed(now)) {
        stop(stop_cause::deadline);
        return gate_answer::stop;
    }
    if (bounds_.budget_usd && total().unpriced != 0) {
        stop(stop_cause::unpriced);
        return gate_answer::stop;
    }
    // What is spent cannot be earned back, also while nothing may start.
    if (const stop_cause over = passed_bound(0); over != stop_cause::none) {
        stop(over);
        return gate_answer::stop;
    }
    if (paused_) return gate_answer::wait;
    const bool unknown = has_budget() && !has_mean();
    if (in_progress_ >= bounds_.concurrency) return gate_answer::wait;
    if (unknown && in_progress_ >= unknown_cost_rows) {
        waits_for_budget_ = true;
        return gate_answer::wait;
    }
    const stop_cause next = passed_bound(static_cast<double>(in_progress_) + 1);
    if (next == stop_cause::none) return gate_answer::start;
    if (in_progress_ != 0) { // they may cost less than the others
        waits_for_budget_ = true;
        return gate_answer::wait;
    }
    stop(next);
    return gate_answer::stop;
}

stop_cause start_gate::used_up() const noexcept {
    const bool lacks_prices = bounds_.budget_usd && total().unpriced != 0;
    if (cause_ != stop_cause::none || lacks_prices) return stop_cause::none;
    const stop_cause over = passed_bound(0);
    if (over != stop_cause::none || in_progress_ != 0) return over;
    return passed_bound(1);
}

stop_cause start_gate::passed_bound(double rows) const noexcept {
    const ports::step_spending all = total();
    if (bounds_.budget_usd) {
        const double reserved =
            rows * reserve(whole_.cost_usd, sample_.spent.cost_usd, begun_.spent.cost_usd);
        // Rows in progress have spent a part of their share already: it is counted in full, which
        // errs on the careful side.
        const double known =
            rows == 0 ? all.cost_usd : before_.cost_usd + parked_.cost_usd + ended_.cost_usd;
        const bool over = rows == 0 ? known >= *bounds_.budget_usd + rounding_usd ||
                                          (known >= *bounds_.budget_usd && in_progress_ == 0)
                                    : known + reserved > *bounds_.budget_usd + rounding_usd;
        if (over) return stop_cause::budget;
    }
    if (bounds_.max_calls) {
        const auto most = static_cast<double>(*bounds_.max_calls);
        const double reserved =
            rows * std::max(rows == 0 ? 0.0 : 1.0, reserve(whole_.requests, sample_.spent.requests,
                                                           begun_.spent.requests));
        const double known =
            rows == 0 ? all.requests
                      : static_cast<double>(before_.requests) + parked_.requests + ended_.requests;
        if (rows == 0 ? known >= most : known + reserved > most + 0.001) return stop_cause::calls;
    }
    return stop_cause::none;
}

void start_gate::row_ended(const ports::step_spending& spent,
                           const ports::step_spending& whole) noexcept {
    --in_progress_;
    ++rows_ended_;
    if (whole.requests != 0) ++rows_paid_;
    ended_ += spent;
    whole_ += whole;
}

void start_gate::row_left(const ports::step_spending& spent) noexcept {
    --in_progress_;
    ended_ += spent;
}

void start_gate::add_failed(std::uint64_t rows) noexcept {
    rows_failed_ += rows;
    look_at_failures();
}

void start_gate::look_at_failures() noexcept {
    if (bounds_.max_failed && rows_failed_ >= *bounds_.max_failed) stop(stop_cause::failures);
}

void start_gate::stop(stop_cause cause) noexcept {
    if (cause_ == stop_cause::none) cause_ = cause;
}

double start_gate::mean(double whole, double before) const noexcept {
    if (rows_ended_ != 0) return whole / static_cast<double>(rows_ended_);
    return sample_.rows == 0 ? 0 : before / static_cast<double>(sample_.rows);
}

double start_gate::reserve(double whole, double before, double begun) const noexcept {
    if (!has_mean()) return begun_.rows == 0 ? 0 : begun / static_cast<double>(begun_.rows);
    if (sample_.rows == 0) return mean(whole, before);
    if (rows_paid_ != 0) return whole / static_cast<double>(rows_paid_);
    return before / static_cast<double>(sample_.rows);
}

ports::step_spending start_gate::total() const noexcept {
    ports::step_spending all = before_;
    all += spent_;
    return all;
}

std::optional<double> start_gate::mean_cost() const noexcept {
    if (!has_mean()) return std::nullopt;
    return mean(whole_.cost_usd, sample_.spent.cost_usd);
}

} // namespace heddle::cli
