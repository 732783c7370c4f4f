#include "batch/reports/waiting_rows.hpp"

#include "batch/reports/run_rows.hpp"

#include <heddle/base/utf8.hpp>

#include <utility>

namespace heddle::cli {

coro::task<result<std::vector<waiting_row>>> waiting_rows(opened_run* run, std::size_t most) {
    std::vector<waiting_row> waiting;
    for (std::uint64_t first = 0; waiting.size() < most;) {
        // A million rows may have begun, and wait for batches of their services.
        result<std::vector<std::uint64_t>> rows = co_await run->store->begun_rows_with(
            std::string(record_of_question), first, rows_at_once, run->context());
        if (!rows) co_return std::move(rows).error();
        if (rows->empty()) break;
        first = rows->back() + 1;
        for (const std::uint64_t number : *rows) {
            if (waiting.size() == most) break;
            result<std::vector<ports::step_record>> records =
                co_await run->store->records_of(number, run->context());
            if (!records) co_return std::move(records).error();
            std::vector<kept_question> open = open_questions(*records);
            if (open.empty()) continue;
            result<std::optional<store::run_row>> row =
                co_await run->store->row(number, run->context());
            if (!row) co_return std::move(row).error();
            if (*row) waiting.push_back({(*row)->id, std::move(open)});
        }
    }
    co_return waiting;
}

std::string text_of(const waiting_row& row) {
    std::string text;
    for (const kept_question& each : row.questions) {
        text += utf8::printable_line(row.id) +
                " asks: " + utf8::printable_line(utf8::shortened(each.asked.text, 500));
        for (std::size_t i = 0; i < each.asked.choices.size(); ++i) {
            text += (i == 0 ? " (" : ", ") + std::to_string(i + 1) + " " +
                    utf8::printable_line(each.asked.choices[i]);
        }
        if (!each.asked.choices.empty()) text += ")";
        text += "\n";
    }
    return text;
}

} // namespace heddle::cli
