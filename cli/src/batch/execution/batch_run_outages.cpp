// How a batch holds rows back that a service has failed, until it is back.
#include "batch/execution/batch_run.hpp"

#include <utility>

namespace heddle::cli {

namespace {

constexpr std::uint64_t max_outages_of_row = 3;

} // namespace

void batch_run::note_outage(std::unique_ptr<row_job> job, row_outcome outcome) {
    note_work(*job, true); // what an outage has ended is not an attempt
    held_.push_back({std::move(job), std::move(outcome)});
    if (!services_.is_closed()) release_held();
}

bool batch_run::note_outage_of(row_job& row) noexcept {
    if (row.last_outage != outages_) ++row.outages;
    row.last_outage = outages_;
    return row.outages <= max_outages_of_row;
}

bool batch_run::retry_after_outage(std::unique_ptr<row_job>& job) {
    if (!services_.is_closed() || !note_outage_of(*job)) return false;
    --job->attempts;
    retry_later(std::move(job));
    return true;
}

void batch_run::release_held() {
    const auto now = of_.tools.loop().now();
    for (held_job& each : std::exchange(held_, {})) {
        row_job& row = *each.job;
        const std::vector<service_contact>& contacts = each.outcome.contacts;
        if (!services_.is_open_for(contacts)) {
            held_.push_back(std::move(each));
            continue;
        }
        // The others were answered in between, or it is this row that the service fails at.
        if (!note_outage_of(row) || services_.is_fault_of_row(contacts, row.failed_probes, now)) {
            held_.push_back(std::move(each));
            continue;
        }
        --row.attempts;
        row.waits_for_service = true;
        retry_later(std::move(each.job));
    }
}

bool batch_run::open_for_held() {
    bool opened = false;
    for (const held_job& each : held_)
        opened = services_.open(each.outcome.contacts, of_.tools.loop().now()) || opened;
    if (!opened) return false;
    ++outages_;
    release_held();
    return true;
}

coro::task<result<void>> batch_run::settle_held(held_rows which) {
    std::vector<held_job> held = std::exchange(held_, {});
    for (held_job& each : held) {
        if (which == held_rows::answered && !services_.have_answered_since(each.outcome.contacts)) {
            held_.push_back(std::move(each));
            continue;
        }
        each.outcome.outage = false;
        result<void> ended = co_await settle(std::move(each.job), std::move(each.outcome));
        if (!ended) co_return ended;
    }
    co_return result<void>();
}

} // namespace heddle::cli
