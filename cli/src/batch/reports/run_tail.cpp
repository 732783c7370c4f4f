#include "batch/reports/run_tail.hpp"

#include "batch/progress/run_failures.hpp"
#include "batch/reports/run_rows.hpp"
#include "batch/steering/opened_run.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/setup/json_line.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

using ports::row_status;

std::string line_of(const store::run_row& row) {
    std::string text = utf8::printable_line(row.id) + "  " + std::string(name_of(row.known.status));
    if (row.known.outdated) text += " (outdated)";
    if (!row.ended) return text + "\n";
    if (row.known.status == row_status::done) text += "  " + row.ended->value_json;
    else text += "  " + utf8::printable_line(reason_of(row.ended->error_json).second);
    return text + "\n";
}

/// Values and errors are in the journal as JSON.
std::string json_of(const store::run_row& row) {
    std::string text = "{\"row\":" + std::to_string(row.known.row) + ",\"id\":";
    append_json_string(text, utf8::replace_invalid(row.id));
    text += ",\"status\":\"" + std::string(name_of(row.known.status)) + "\"";
    if (row.known.outdated) text += ",\"outdated\":true";
    const std::string& value = row.ended->value_json;
    const std::string& failure = row.ended->error_json;
    const bool done = row.known.status == row_status::done;
    text += done ? ",\"value\":" + (value.empty() ? "null" : value)
                 : ",\"error\":" + (failure.empty() ? "null" : failure);
    return text + "}";
}

coro::task<result<void>> print_rows(opened_run* run, std::vector<store::end_place> ends, bool json,
                                    console* output) {
    for (const store::end_place& each : ends) {
        result<std::optional<store::run_row>> row =
            co_await run->store->row(each.row, run->context());
        if (!row) co_return std::move(row).error();
        if (!*row || !(*row)->ended) continue;
        if (json) output->out_data(setup::json_line(json_of(**row)));
        else output->out(line_of(**row));
    }
    output->settle();
    co_return result<void>();
}

/// Ends are numbered in their order, so that also a row is seen that ends again as before.
coro::task<result<void>> tail(opened_run* run, tail_options options, console* output) {
    using namespace std::chrono_literals;
    result<std::vector<store::end_place>> ends =
        co_await run->store->last_ends(options.count, run->context());
    if (!ends) co_return std::move(ends).error();
    std::uint64_t last = ends->empty() ? 0 : ends->back().number;
    // Rows that have ended side by side did so in an order that nobody looks for.
    std::sort(ends->begin(), ends->end(),
              [](const auto& one, const auto& other) { return one.row < other.row; });
    result<void> printed = co_await print_rows(run, *std::move(ends), options.json, output);
    if (!printed) co_return printed;
    for (bool going = options.follow; going;) {
        const bool is_full = ends && ends->size() == rows_at_once;
        if (!is_full) {
            (void)co_await coro::sleep_until(run->context(), run->loop->now() + 500ms);
        }
        going = !output->output_lost() && (is_full || run->is_going());
        ends = co_await run->store->ends_after(last, rows_at_once, run->context());
        if (!ends) co_return std::move(ends).error();
        if (!ends->empty()) last = ends->back().number;
        printed = co_await print_rows(run, *ends, options.json, output);
        if (!printed) co_return printed;
        going = going || ends->size() == rows_at_once;
    }
    co_return result<void>();
}

} // namespace

exit_code tail_run(const std::string& run, tail_options options, console& output) {
    return report_outcome(
        with_run(run, [&](opened_run& on) { return tail(&on, options, &output); }), options.json,
        output);
}

} // namespace heddle::cli
