#include "batch/reports/run_show.hpp"

#include "batch/progress/failure_table.hpp"
#include "batch/progress/run_failures.hpp"
#include "batch/reports/run_rows.hpp"
#include "batch/reports/run_state.hpp"
#include "batch/reports/waiting_rows.hpp"
#include "batch/results/batch_outputs.hpp"
#include "batch/steering/opened_run.hpp"
#include "batch/steering/run_control.hpp"
#include "cost_report.hpp"
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

/// How far the run is, in words; nothing: no process answers.
std::optional<std::string> progress_of(const std::string& folder) {
    const auto response = ask_open_run(folder, R"({"do":"status"})");
    boost::system::error_code wrong;
    const json::value parsed = response ? json::parse(*response, wrong) : json::value();
    const json::value* line =
        !wrong && parsed.is_object() ? parsed.get_object().if_contains("line") : nullptr;
    if (!line || !line->is_string()) return std::nullopt;
    return std::string(line->get_string());
}

/// ", 4 in all"; empty: it is not known.
std::string total_text(const run_state& state, const ports::run_totals& totals,
                       std::uint64_t outdated) {
    if (!state.total) return {};
    std::string text = ", " + setup::grouped(*state.total) + " in all";
    // Those that are not in the input are none of the total.
    const std::uint64_t known = totals.done + totals.failed + totals.rejected + totals.begun;
    const std::uint64_t others = std::min(outdated, known - std::min(known, *state.total));
    if (others != 0) text += " besides " + setup::grouped(others) + " of an earlier version";
    return text;
}

coro::task<result<void>> show(opened_run* run, bool as_json, console* output) {
    result<failure_table> found =
        co_await failures_of_run(run->store.get(), failed_rows::all, run->context());
    if (!found) co_return std::move(found).error();
    const failure_table failures = *std::move(found);
    constexpr std::size_t max_waiting = 100;
    result<std::vector<waiting_row>> waiting = co_await waiting_rows(run, max_waiting);
    if (!waiting) co_return std::move(waiting).error();
    result<std::vector<ports::known_row>> known = co_await run->store->known_rows(run->context());
    if (!known) co_return std::move(known).error();
    const auto outdated = static_cast<std::uint64_t>(std::count_if(
        known->begin(), known->end(), [](const ports::known_row& row) { return row.outdated; }));
    std::optional<std::string> now;
    if (!run->about.is_single()) now = progress_of(run->folder);
    const bool going = run->is_going();
    result<ports::run_totals> summed = co_await totals_of(run, going);
    if (!summed) co_return std::move(summed).error();
    const ports::run_totals totals = *summed;
    const run_state state = state_of(*run, totals, going);
    if (!going) now.reset(); // it has ended since
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
        json::object members{{"run", run->folder},
                             {"going", going},
                             {"now", nullptr},
                             {"program", run->about.program},
                             {"results", run->about.output},
                             {"dead_letters", run->about.dead_letters},
                             {"started", run->about.started},
                             {"mixed", run->about.is_mixed},
                             {"rows", std::move(rows)},
                             {"questions", std::move(questions)},
                             {"batches", parked->json()},
                             {"failures", std::move(reasons)}};
        if (now) members["now"] = *now;
        state.add_to(members);
        output->out_data(setup::json_line(members));
        co_return result<void>();
    }
    const std::string how = state.name.empty() ? "not going" : state.text();
    std::string text = run->folder + ": " + run->about.program + ", " + how + "\n";
    text += "started: " + run->about.started + "\n";
    text += "rows: " + setup::grouped(totals.done) + " done, " + setup::grouped(totals.failed) +
            " failed, " + setup::grouped(totals.rejected) + " rejected, " +
            setup::grouped(totals.begun) + " begun" + total_text(state, totals, outdated) + "\n";
    if (outdated != 0)
        text += "of an earlier version of the program: " + setup::counted(outdated, "row") + "\n";
    if (totals.spent.requests != 0) {
        const std::string cost = cost_text(totals.spent.cost_usd, totals.spent.unpriced);
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
    if (now) text += "now: " + *now + "\n";
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
    const auto now = progress_of(folder);
    if (!now) return std::nullopt;
    if (as_json)
        return setup::json_line(
            json::object{{"run", folder}, {"going", true}, {"state", "going"}, {"now", *now}});
    return folder + ": going\nnow: " + *now + "\n";
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
    return report_outcome(
        with_run(run, [&](opened_run& on) { return show(&on, as_json, &output); }), as_json,
        output);
}

} // namespace heddle::cli
