#include "batch/reports/run_show.hpp"

#include "batch/batch_outputs.hpp"
#include "batch/failure_table.hpp"
#include "batch/lost_requests.hpp"
#include "batch/opened_run.hpp"
#include "batch/reports/run_rows.hpp"
#include "batch/reports/waiting_rows.hpp"
#include "batch/run_control.hpp"
#include "parking/parking_report.hpp"

#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

namespace json = boost::json;
using ports::row_status;

/// What was under way when a process ended, and is not in the totals yet.
coro::task<result<void>> add_lost_requests(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    opened_run* run, ports::run_totals& totals) {
    if (totals.begun == 0) co_return result<void>();
    result<store::row_sample> sample = co_await run->store->sample_rows(run->context());
    if (!sample) co_return std::move(sample).error();
    result<std::vector<lost_request_record>> lost =
        co_await find_lost_requests(*run->store, *sample, run->context());
    if (!lost) co_return std::move(lost).error();
    for (const lost_request_record& each : *lost) {
        totals.spent += each.record.spent;
        ++totals.maybe_paid;
    }
    co_return result<void>();
}

coro::task<result<void>> show(opened_run* run, bool as_json, console* output) {
    failure_table failures;
    constexpr std::uint64_t looked_at = 20'000;
    for (const row_status status : {row_status::failed, row_status::rejected}) {
        result<void> ok = co_await for_each_row(
            run, status,
            [&](const store::run_row& row) -> result<void> {
                if (!row.ended) return {};
                auto [reason, message] = reason_of(row.ended->error_json);
                failures.add(status == row_status::rejected ? "rejected" : reason, message, row.id);
                return {};
            },
            looked_at);
        if (!ok) co_return ok;
    }
    constexpr std::size_t max_waiting = 100;
    result<std::vector<waiting_row>> waiting = co_await waiting_rows(run, max_waiting);
    if (!waiting) co_return std::move(waiting).error();
    ports::run_totals totals = run->store->totals();
    result<std::vector<ports::known_row>> known = co_await run->store->known_rows(run->context());
    if (!known) co_return std::move(known).error();
    const auto outdated = static_cast<std::uint64_t>(std::count_if(
        known->begin(), known->end(), [](const ports::known_row& row) { return row.outdated; }));
    const bool going = run->is_going();
    if (!going) { // otherwise what has no response yet is under way
        result<void> added = co_await add_lost_requests(run, totals);
        if (!added) co_return added;
    }
    result<parking_report> parked = co_await parking_report::read(run->folder, run->context());
    if (!parked) co_return std::move(parked).error();
    if (as_json) {
        json::object rows = totals_json(totals);
        rows["outdated"] = outdated;
        json::array questions;
        for (const waiting_row& row : *waiting) {
            for (const kept_question& each : row.questions) {
                json::object one = json::parse(each.text).as_object();
                one["row"] = row.id;
                questions.push_back(std::move(one));
            }
        }
        json::array reasons;
        for (const failure_table::group& each : failures.groups()) {
            reasons.push_back(json::object{{"rows", each.rows},
                                           {"reason", each.reason},
                                           {"message", each.message},
                                           {"first", each.first_id}});
        }
        output->out_data(setup::json_line(json::object{{"run", run->folder},
                                                       {"going", going},
                                                       {"program", run->about.program},
                                                       {"results", run->about.output},
                                                       {"dead_letters", run->about.dead_letters},
                                                       {"started", run->about.started},
                                                       {"mixed", run->about.is_mixed},
                                                       {"rows", std::move(rows)},
                                                       {"questions", std::move(questions)},
                                                       {"batches", parked->json()},
                                                       {"failures", std::move(reasons)}}));
        co_return result<void>();
    }
    std::string text =
        run->folder + ": " + run->about.program + ", " + (going ? "going" : "not going") + "\n";
    text += "started: " + run->about.started + "\n";
    text += "rows: " + setup::grouped(totals.done) + " done, " + setup::grouped(totals.failed) +
            " failed, " + setup::grouped(totals.rejected) + " rejected, " +
            setup::grouped(totals.begun) + " begun\n";
    if (outdated != 0)
        text += "of an earlier version of the program: " + setup::counted(outdated, "row") + "\n";
    if (totals.spent.requests != 0) {
        const std::string cost = setup::dollars(totals.spent.cost_usd);
        text += "spent: " + setup::counted(totals.spent.requests, "request") + ", " +
                setup::grouped(totals.spent.input_tokens) + " tokens in, " +
                setup::grouped(totals.spent.output_tokens) + " out" +
                (cost.empty() ? "" : ", " + cost) + "\n";
    }
    if (totals.maybe_paid != 0) {
        text += "maybe paid: " + setup::counted(totals.maybe_paid, "call") +
                " under way when a process ended; the cost is an estimate\n";
    }
    text += parked->text();
    if (!run->about.output.empty()) text += "results: " + run->about.output + "\n";
    if (run->about.is_mixed) {
        text +=
            "of two versions of the program: rows were retried after an edit; the command "
            "without --retry-failed and --retry-row runs all of them\n";
    }
    if (run->store->phase() == store::output_phase::beside && run->about.output != "-")
        text += "results of the changed program so far: " + file_beside(run->about.output) + "\n";
    if (totals.failed + totals.rejected != 0 && !run->about.dead_letters.empty())
        text += "rows without a result: " + run->about.dead_letters + "\n";
    if (going && !run->about.is_single()) {
        const auto answer = ask_run(run->folder, R"({"do":"status"})");
        boost::system::error_code wrong;
        const json::value parsed = answer ? json::parse(*answer, wrong) : json::value();
        if (!wrong && parsed.is_object() && parsed.get_object().contains("line"))
            text += "now: " + std::string(parsed.at("line").as_string()) + "\n";
    }
    for (const waiting_row& each : *waiting) text += text_of(each);
    if (!waiting->empty())
        text += "'heddle runs answer " + run->folder + " ROW TEXT' answers a row\n";
    output->out(text);
    output->out(failures.text(output->traits().out_is_terminal ? output->columns() : 0));
    co_return result<void>();
}

/// Nothing: the run has begun, or nobody works on it.
std::optional<std::string> text_of_loading(const std::string& folder, bool as_json) {
    std::error_code failed;
    if (std::filesystem::exists(manifest_file(folder), failed)) return std::nullopt;
    const auto answer = ask_run(folder, R"({"do":"status"})");
    boost::system::error_code wrong;
    const json::value parsed = answer ? json::parse(*answer, wrong) : json::value();
    if (wrong || !parsed.is_object() || !parsed.get_object().contains("line")) return std::nullopt;
    const std::string now(parsed.at("line").as_string());
    if (as_json)
        return setup::json_line(json::object{{"run", folder}, {"going", true}, {"now", now}});
    return folder + ": going\nnow: " + now + "\n";
}

} // namespace

exit_code show_run(const std::string& run, bool as_json, console& output) {
    if (const auto folder = find_going_run(run)) {
        if (const auto text = text_of_loading(*folder, as_json)) {
            if (as_json) output.out_data(*text);
            else output.out(*text);
            return exit_code::done;
        }
    }
    return tell_report(with_run(run, [&](opened_run& on) { return show(&on, as_json, &output); }),
                       as_json, output);
}

} // namespace heddle::cli
