#include "batch/plan/plan_records.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/rows/row.hpp>
#include <heddle/setup/journal/row_failures.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::cli {

namespace {

/// Leaves out what no step is to be given again.
void discard(std::vector<ports::step_record>& records, const std::vector<std::uint64_t>& numbers) {
    const std::set<std::uint64_t> dropped(numbers.begin(), numbers.end());
    records.erase(std::remove_if(records.begin(), records.end(),
                                 [&](const auto& each) { return dropped.contains(each.number); }),
                  records.end());
}

std::function<bool(const std::string&)> failures_in(lang::heap& memory) {
    return [&memory](const std::string& body) {
        ports::step_record step;
        step.body = body;
        return setup::failure_of_step(memory, step).has_value();
    };
}

} // namespace

std::uint64_t seed_of_row(std::uint64_t run_seed, std::uint64_t number) {
    return rows::digest_of_id(std::to_string(run_seed) + ":" + std::to_string(number)).low;
}

plan_records plan_records_of(const planned_row& row, std::vector<ports::step_record> records,
                             lang::heap& memory) {
    plan_records all;
    const host::row_history history =
        setup::read_earlier_version(memory, records, row.has_failed, row.asks_anew);
    discard(records, history.discarded);
    all.records = std::move(records);
    all.seed = seed_of_row(row.run_seed, row.number);
    all.is_failure = failures_in(memory);
    return all;
}

plan_records replayed_records_of(const planned_row& row, std::vector<ports::step_record> records,
                                 lang::heap& memory) {
    if (row.has_failed) setup::end_attempt(records);
    host::row_history history = host::read_history(
        std::move(records),
        [&memory](const ports::step_record& step) { return setup::failure_of_step(memory, step); });
    return {std::move(history.replayed), seed_of_row(row.run_seed, row.number),
            failures_in(memory)};
}

} // namespace heddle::cli
