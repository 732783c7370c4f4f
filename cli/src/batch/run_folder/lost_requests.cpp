#include "batch/run_folder/lost_requests.hpp"

#include <heddle/host/row_history.hpp>

#include <optional>
#include <string>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::size_t rows_at_once = 500;

} // namespace

coro::task<result<std::vector<lost_request_record>>> find_lost_requests(
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    store::run_store& journal, const store::row_sample& sample, coro::call_context context) {
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    std::vector<lost_request_record> all;
    for (std::uint64_t first = 0;;) {
        result<std::vector<store::row_records>> rows =
            co_await journal.rows_with_open_requests(first, rows_at_once, context);
        if (!rows) co_return std::move(rows).error();
        if (rows->empty()) co_return all;
        first = rows->back().row + 1;
        for (store::row_records& row : *rows) {
            // What failed is of no importance here.
            host::row_history history = host::read_history(
                std::move(row.records),
                [](const ports::step_record&) { return std::optional<std::string>(); });
            for (ports::step_record& each : history.newly_lost) {
                host::count_lost(each, sample.longest_output);
                all.push_back({row.row, std::move(each)});
            }
        }
    }
}

coro::task<result<void>> note_lost_requests(
    // NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    store::run_store& journal, const store::row_sample& sample, coro::call_context context) {
    // NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
    result<std::vector<lost_request_record>> found =
        co_await find_lost_requests(journal, sample, context);
    if (!found) co_return std::move(found).error();
    for (lost_request_record& each : *found) journal.note(each.row, std::move(each.record));
    if (found->empty()) co_return result<void>();
    result<void> kept = co_await journal.flush(context);
    co_return kept;
}

} // namespace heddle::cli
