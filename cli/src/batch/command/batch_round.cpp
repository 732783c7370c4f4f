#include "batch/command/batch_round.hpp"

#include <algorithm>

namespace heddle::cli {

namespace {

/// `all` without `part`, which it contains.
ports::step_spending without(const ports::step_spending& all, const ports::step_spending& part) {
    ports::step_spending rest;
    rest.requests = all.requests - std::min(all.requests, part.requests);
    rest.input_tokens = all.input_tokens - std::min(all.input_tokens, part.input_tokens);
    rest.output_tokens = all.output_tokens - std::min(all.output_tokens, part.output_tokens);
    rest.cost_usd = std::max(0.0, all.cost_usd - part.cost_usd);
    rest.unpriced = all.unpriced - std::min(all.unpriced, part.unpriced);
    rest.estimated = all.estimated;
    return rest;
}

} // namespace

void batch_round::begin_rows(coro::clock::time_point now,
                             const std::vector<ports::known_row>& known) {
    if (began) return;
    began = now;
    for (const ports::known_row& row : known) {
        if (row.status == ports::row_status::begun || row.outdated)
            begun_before_.push_back(row.row);
    }
    goes_on_.resize(begun_before_.size());
}

bool batch_round::continues(std::uint64_t row) {
    const auto found = std::lower_bound(begun_before_.begin(), begun_before_.end(), row);
    if (found == begun_before_.end() || *found != row) return false;
    const auto at = static_cast<std::size_t>(found - begun_before_.begin());
    if (goes_on_[at]) return false;
    goes_on_[at] = true;
    return true;
}

batch_counts batch_round::add(batch_counts of_round) {
    if (!up_to_now_) {
        spent_before_ = without(of_round.spent, of_round.spent_now);
    } else {
        const batch_counts& before = *up_to_now_;
        // What ended or began in a round is not work of an earlier process.
        of_round.kept = std::min(of_round.kept, before.kept);
        of_round.continued += before.continued;
        of_round.retried += before.retried;
        of_round.cached += before.cached;
        // With the responses that batches have brought between the rounds.
        of_round.spent_now = without(of_round.spent, spent_before_);
    }
    up_to_now_ = of_round;
    return of_round;
}

} // namespace heddle::cli
