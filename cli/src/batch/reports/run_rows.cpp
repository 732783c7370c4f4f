#include "batch/reports/run_rows.hpp"

#include "batch/run_folder/lost_requests.hpp"
#include "cost_report.hpp"
#include "report_error.hpp"

#include <utility>
#include <vector>

namespace heddle::cli {

namespace json = boost::json;

namespace {

/// The row with its value and error.
coro::task<result<store::run_row>> whole_row(opened_run* run, store::run_row row) {
    const bool whole =
        !row.ended || !row.ended->value_json.empty() || !row.ended->error_json.empty();
    if (whole) co_return row;
    result<std::optional<store::run_row>> found =
        co_await run->store->row(row.known.row, run->context());
    if (!found) co_return std::move(found).error();
    if (*found) co_return **std::move(found);
    co_return row;
}

} // namespace

std::string_view name_of(ports::row_status status) noexcept {
    using ports::row_status;
    switch (status) {
    case row_status::begun: return "begun";
    case row_status::done: return "done";
    case row_status::failed: return "failed";
    case row_status::rejected: return "rejected";
    }
    return "begun";
}

coro::task<result<ports::run_totals>> totals_of(opened_run* run, bool going) {
    ports::run_totals totals = run->store->totals();
    // What has no response yet is under way.
    if (going || totals.begun == 0) co_return totals;
    result<store::row_sample> sample = co_await run->store->sample_rows(run->context());
    if (!sample) co_return std::move(sample).error();
    result<std::vector<lost_request_record>> lost =
        co_await find_lost_requests(*run->store, *sample, run->context());
    if (!lost) co_return std::move(lost).error();
    for (const lost_request_record& each : *lost) {
        totals.spent += each.record.spent;
        ++totals.maybe_paid;
    }
    co_return totals;
}

json::object totals_json(const ports::run_totals& totals) {
    return {{"begun", totals.begun},
            {"done", totals.done},
            {"failed", totals.failed},
            {"rejected", totals.rejected},
            {"maybe_paid", totals.maybe_paid},
            {"requests", totals.spent.requests},
            {"input_tokens", totals.spent.input_tokens},
            {"output_tokens", totals.spent.output_tokens},
            {"cost_usd", cost_json(totals.spent.cost_usd, totals.spent.unpriced)},
            {"unpriced", totals.spent.unpriced},
            {"estimated", totals.spent.estimated}};
}

coro::task<result<void>> for_each_row(opened_run* run, std::optional<ports::row_status> status,
                                      std::function<result<void>(store::run_row)> see,
                                      std::uint64_t most) {
    std::uint64_t first = 0;
    for (std::uint64_t seen = 0; seen < most;) {
        result<std::vector<store::run_row>> rows =
            co_await run->store->rows(first, rows_at_once, status, run->context());
        if (!rows) co_return std::move(rows).error();
        if (rows->empty()) break;
        first = rows->back().known.row + 1;
        for (store::run_row& each : *rows) {
            if (++seen > most) break;
            result<store::run_row> whole = co_await whole_row(run, std::move(each));
            if (!whole) co_return std::move(whole).error();
            if (auto ok = see(*std::move(whole)); !ok) co_return ok;
        }
    }
    co_return result<void>();
}

exit_code report_outcome(const result<void>& ended, bool as_json, console& output) {
    if (ended) return exit_code::done;
    return report_error(ended.error(), exit_code::usage, as_json, output);
}

} // namespace heddle::cli
