#include "batch/lost_requests.hpp"

#include <heddle/host/row_history.hpp>

#include <optional>
#include <string>
#include <utility>

namespace heddle::cli {

coro::task<result<std::vector<lost_request_record>>> find_lost_requests(
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    ports::run_journal& journal, const std::vector<ports::known_row>& known,
    const store::row_sample& sample, coro::call_context context) {
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    std::vector<lost_request_record> all;
    for (const ports::known_row& row : known) {
        if (row.status != ports::row_status::begun) continue;
        result<std::vector<ports::step_record>> records =
            co_await journal.records_of(row.row, context);
        if (!records) co_return std::move(records).error();
        // What failed is of no importance here.
        host::row_history history = host::read_history(
            *std::move(records),
            [](const ports::step_record&) { return std::optional<std::string>(); });
        for (ports::step_record& each : history.newly_lost) {
            host::count_lost(each, sample.longest_output);
            all.push_back({row.row, std::move(each)});
        }
    }
    co_return all;
}

coro::task<result<void>> note_lost_requests(
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    ports::run_journal& journal, const std::vector<ports::known_row>& known,
    const store::row_sample& sample, coro::call_context context) {
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    result<std::vector<lost_request_record>> found =
        co_await find_lost_requests(journal, known, sample, context);
    if (!found) co_return std::move(found).error();
    for (lost_request_record& each : *found) journal.note(each.row, std::move(each.record));
    if (found->empty()) co_return result<void>();
    result<void> kept = co_await journal.flush(context);
    co_return kept;
}

} // namespace heddle::cli
