#include "batch/progress/run_failures.hpp"

#include "json_or_text.hpp"

#include <boost/json/object.hpp>

#include <string_view>
#include <vector>

namespace heddle::cli {

namespace json = boost::json;

namespace {

constexpr std::size_t rows_at_once = 2000;
constexpr std::uint64_t max_rows = 20'000; ///< of a status

coro::task<result<void>> add_failures(store::run_store* journal, ports::row_status status,
                                      failed_rows which, failure_table* to,
                                      coro::call_context context) {
    std::uint64_t first = 0;
    for (std::uint64_t seen = 0; seen < max_rows;) {
        result<std::vector<store::row_failure>> rows =
            co_await journal->failures(first, rows_at_once, status, context);
        if (!rows) co_return std::move(rows).error();
        if (rows->empty()) break;
        first = rows->back().known.row + 1;
        seen += rows->size();
        for (const store::row_failure& each : *rows) {
            if (which == failed_rows::current && each.known.outdated) continue;
            const auto [reason, message] = reason_of(each.error_json);
            to->add(status == ports::row_status::rejected ? "rejected" : reason, message, each.id);
        }
    }
    co_return result<void>();
}

} // namespace

std::pair<std::string, std::string> reason_of(const std::string& error_json) {
    const json::value parsed = json_or_text(error_json);
    if (!parsed.is_object()) return {"unknown", ""};
    const auto text = [&](std::string_view name) {
        const json::value* found = parsed.get_object().if_contains(name);
        return found && found->is_string() ? std::string(found->get_string()) : std::string();
    };
    std::string reason = text("kind");
    if (const std::string more = text("reason"); !more.empty()) reason += " " + more;
    return {std::move(reason), text("message")};
}

coro::task<result<failure_table>> failures_of_run(store::run_store* journal, failed_rows which,
                                                  coro::call_context context) {
    failure_table failures;
    for (const ports::row_status status :
         {ports::row_status::failed, ports::row_status::rejected}) {
        result<void> added = co_await add_failures(journal, status, which, &failures, context);
        if (!added) co_return std::move(added).error();
    }
    co_return failures;
}

} // namespace heddle::cli
