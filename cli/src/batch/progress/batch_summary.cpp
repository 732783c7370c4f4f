#include "batch/progress/batch_summary.hpp"

#include "cost_report.hpp"

#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::cli {

namespace {

constexpr std::uint64_t failures_shown = 100;

std::string cost_of(const ports::step_spending& spent) {
    return cost_text(spent.cost_usd, spent.unpriced);
}

bool is_unknown(const ports::step_spending& spent) {
    return spent.unpriced != 0 && spent.cost_usd <= 0;
}

std::string rows_line(const batch_summary& end) {
    const batch_counts& counts = end.counts;
    const bool has_total = counts.total && !counts.total_is_estimate;
    std::string text = has_total ? setup::grouped(counts.ended()) + " of " +
                                       setup::grouped(*counts.total) + " rows"
                                 : setup::counted(counts.ended(), "row");
    text += ": " + setup::grouped(counts.done) + " done";
    if (counts.failed != 0) text += ", " + setup::grouped(counts.failed) + " failed";
    if (counts.rejected != 0) text += ", " + setup::grouped(counts.rejected) + " rejected";
    const std::uint64_t in_batches = counts.waiting - counts.asking;
    if (in_batches != 0) text += ", " + setup::grouped(in_batches) + " waiting";
    if (counts.asking != 0) text += ", " + setup::grouped(counts.asking) + " waiting for an answer";
    if (counts.kept != 0) text += " (" + setup::grouped(counts.kept) + " of them earlier)";
    text += "; " + setup::duration_text(end.seconds);
    if (counts.ended_now() > 1 && end.seconds > 0.1) {
        const double rate = static_cast<double>(counts.ended_now()) / end.seconds;
        text += ", " +
                (rate < 10 ? std::to_string(rate).substr(0, 3)
                           : setup::grouped(static_cast<std::uint64_t>(std::llround(rate)))) +
                " rows/s";
    }
    const ports::step_spending& spent = counts.spent;
    if (spent.input_tokens != 0 || spent.output_tokens != 0) {
        text += "; " + setup::grouped(spent.input_tokens) + " tokens in, " +
                setup::grouped(spent.output_tokens) + " out";
    }
    if (const std::string cost = cost_of(spent); !cost.empty()) {
        text += "; " + cost;
        const std::string now = cost_of(counts.spent_now);
        if (counts.kept + counts.continued != 0 && now != cost)
            text += (now.empty() ? ", nothing" : ", " + now) +
                    (is_unknown(counts.spent_now) ? " now" : " of it now");
    }
    return text + "\n";
}

/// Where the results of a changed program are, or whose are not among them.
std::string results_line(const batch_summary& end, const batch_request& asked) {
    const std::string& file = asked.out.target.file;
    if (end.results != file) {
        const std::string text = "results of the changed program: " + end.results + "; ";
        if (end.lacks_earlier_results) {
            return text + "the file becomes " + file +
                   ", which is missing, once all rows have run "
                   "again\n";
        }
        return text + file + " keeps those of the earlier one until all rows have run again\n";
    }
    std::string text;
    if (end.outdated != 0) {
        text = setup::counted(end.outdated, "row") + " of the run " +
               (end.outdated == 1 ? "is" : "are") +
               " not in the input any more; 'heddle runs export' has the earlier results\n";
    }
    return text + absent_text(end.counts.absent, asked);
}

/// The bound of --max-calls, and how many of its calls are used.
std::string calls_text(const batch_summary& end, std::uint64_t most) {
    const std::uint64_t used = end.counts.spent.requests + end.counts.parked;
    const std::string calls = most == 1 ? "the call" : "the " + setup::grouped(most) + " calls";
    if (used >= most) return calls + " of --max-calls " + (most == 1 ? "is used" : "are used");
    return setup::grouped(used) + " of " + calls + " of --max-calls " +
           (used == 1 ? "is used" : "are used") + ", and a further row may need more than are left";
}

/// Why rows are left, and what continues the run.
std::string how_to_go_on(const batch_summary& end, const batch_request& asked) {
    const bool kept = !asked.run_folder().empty();
    std::string again = kept ? "the same command continues" : "";
    const std::string then = kept ? "; " + again : "";
    const std::string spent = cost_of(end.counts.spent);
    const bool is_bound = end.cause == stop_cause::budget || end.cause == stop_cause::calls;
    if (is_bound && end.counts.bound_was_lifted) {
        return std::string(end.cause == stop_cause::calls ? "--max-calls" : "--budget-usd") +
               " kept rows from starting before it was changed" + then;
    }
    switch (end.cause) {
    case stop_cause::none:
        if (end.failure) return again;
        if (end.only_waits) {
            return setup::counted(end.counts.parked, "call") + " " +
                   (end.counts.parked == 1 ? "waits" : "wait") + " for " +
                   (end.batches == 1 ? "a batch" : setup::grouped(end.batches) + " batches") +
                   " of the services; the same command takes the responses and continues "
                   "(--park-wait stays until then)";
        }
        if (!end.problems.empty()) return "batches could not be submitted" + then;
        if (end.waiting != 0) return "the command without --retry-failed and --retry-row runs them";
        if (end.counts.asking == 0) return "";
        return "'heddle runs show " + asked.run_folder() +
               "' lists the questions, 'heddle runs answer' takes the answers" + then;
    case stop_cause::budget:
        return "the budget of " +
               (end.counts.budget_usd.value_or(0) > 0 ? setup::dollars(*end.counts.budget_usd)
                                                      : "$0") +
               " does not allow a further row (" + (spent.empty() ? "nothing" : spent) + " spent)" +
               (kept ? "; the same command with a larger --budget-usd continues" : "");
    case stop_cause::calls:
        return calls_text(end, asked.max_calls.value_or(0)) +
               (kept ? "; the same command with a larger --max-calls continues" : "");
    case stop_cause::deadline: return "the time of --deadline has passed" + then;
    case stop_cause::interrupted: return "interrupted" + then;
    case stop_cause::cancelled: return "cancelled by 'heddle runs cancel'" + then;
    case stop_cause::failures:
        return "stopped after " + setup::counted(asked.max_failed.value_or(1), "failed row") +
               " (--on-error)" + then + (kept ? ", with --retry-failed also those" : "");
    case stop_cause::all_fail:
        return "none of the first " + setup::counted(failures_shown, "row") +
               " had a result; --on-error skip continues in any case";
    case stop_cause::settings: return "fix these settings" + then;
    case stop_cause::bad_row: return "stopped at an invalid row (--strict)";
    case stop_cause::outage: return "the service is down and did not come back" + then;
    case stop_cause::unpriced:
        return "a call has no known price, so --budget-usd cannot be kept; name prices in "
               "heddle.toml (docs/reference/prices.md), or leave --budget-usd out";
    case stop_cause::output: return "the results cannot be written" + then;
    case stop_cause::input: return again;
    }
    return again;
}

/// Whether there is a reason to report how the batch can go on.
bool has_more(const batch_summary& end) {
    return end.rows_left || end.failure || end.cause == stop_cause::interrupted ||
           end.cause == stop_cause::bad_row;
}

/// "budget"; empty: nothing has stopped it.
std::string stopped_by(const batch_summary& end) {
    // What stops the start of rows when all have started stops nothing.
    if (end.cause != stop_cause::none && has_more(end)) return std::string(to_string(end.cause));
    return end.problems.empty() ? "" : "batches";
}

boost::json::object json_of(const ports::step_spending& spent) {
    return {{"requests", spent.requests},
            {"input_tokens", spent.input_tokens},
            {"output_tokens", spent.output_tokens},
            {"cost_usd", cost_json(spent.cost_usd, spent.unpriced)},
            {"unpriced", spent.unpriced},
            {"estimated", spent.estimated}};
}

} // namespace

exit_code batch_summary::code() const noexcept {
    if (cause == stop_cause::interrupted) return exit_code::interrupted;
    if (cause == stop_cause::settings) return exit_code::usage;
    // Not where an earlier process has rejected the first rows: the command ends as it did then.
    if (failure && !has_started && cause != stop_cause::all_fail) return exit_code::usage;
    if (only_waits && !failure && cause == stop_cause::none) return exit_code::rows_wait;
    // Also where it was the last row: whether more were to come is not known before they are read.
    if (failure || rows_left || cause == stop_cause::bad_row) return exit_code::rows_left;
    if (counts.failed + counts.rejected != 0) return exit_code::rows_failed;
    return exit_code::done;
}

batch_end end_of(const batch_summary& end) {
    batch_end noted;
    noted.stopped_by = stopped_by(end);
    const bool asks_only = end.cause == stop_cause::none && !end.failure && end.problems.empty() &&
                           end.counts.asking != 0;
    switch (end.code()) {
    case exit_code::done:
    case exit_code::rows_failed: noted.state = "done"; break;
    case exit_code::interrupted: noted.state = "interrupted"; break;
    case exit_code::rows_wait: noted.state = "waiting"; break;
    default: noted.state = asks_only ? "waiting" : "stopped";
    }
    if (noted.stopped_by.empty() && end.failure) noted.stopped_by = "error";
    noted.left = end.counts.left();
    noted.left_is_estimate = end.counts.total_is_estimate;
    if (!noted.left_is_estimate) noted.total = end.counts.total;
    return noted;
}

batch_end end_of(early_stop cause) {
    batch_end noted;
    noted.state = cause == early_stop::interrupted ? "interrupted" : "stopped";
    if (cause == early_stop::cancelled) noted.stopped_by = to_string(stop_cause::cancelled);
    if (cause == early_stop::error) noted.stopped_by = "error";
    return noted;
}

std::optional<std::uint64_t> absent_results(std::uint64_t results, const batch_request& asked) {
    if (asked.rows.limit || asked.rows.sample) return std::nullopt;
    return results;
}

std::string absent_text(std::uint64_t results, const batch_request& asked) {
    if (absent_results(results, asked).value_or(0) == 0) return {};
    std::string text = setup::counted(results, "result") +
                       (results == 1 ? " is of a row that is" : " are of rows that are") +
                       " no longer in the input";
    if (asked.rows.id_field.empty())
        text += "; with --id COLUMN, rows keep their names when their positions change";
    return text + "\n";
}

std::string change_text(const std::vector<ports::known_row>& known, const batch_request& asked,
                        bool is_back, const std::string& what) {
    std::string text = is_back ? "rows were retried with another version of the program"
                               : "the program, its templates, inputs, model or settings have "
                                 "changed since the run began";
    if (!is_back && !what.empty()) text += " (" + what + ")";
    text += ": ";
    if (!asked.is_retry()) {
        return text + setup::counted(known.size(), "row") + (known.size() == 1 ? " runs" : " run") +
               " again; unchanged requests use their earlier responses";
    }
    const auto kept = static_cast<std::size_t>(
        std::count_if(known.begin(), known.end(), [](const ports::known_row& row) {
            return row.status == ports::row_status::done && !row.outdated;
        }));
    return text + setup::counted(kept, "row") +
           (kept == 1 ? " keeps its result" : " keep their results") +
           ", and rows that have not ended wait, since only rows that failed are retried; without "
           "--retry-failed and --retry-row all rows run again";
}

std::string summary_text(const batch_summary& end, const failure_table& failures,
                         const batch_request& asked, unsigned columns) {
    // The error is all that there is.
    const bool only_fails = end.cause == stop_cause::none || end.cause == stop_cause::input;
    if (end.failure && !end.has_started && only_fails) return {};
    std::string text = rows_line(end);
    const std::uint64_t without_result = end.counts.failed + end.counts.rejected;
    if (failures.count() != 0 && failures.count() < without_result) {
        text += "reasons of " + setup::grouped(failures.count()) + " of the " +
                setup::counted(without_result, "row") + " without a result:\n";
    }
    text += failures.text(columns);
    if (end.counts.maybe_paid != 0) {
        text += setup::counted(end.counts.maybe_paid, "call") +
                " may have been paid for without a response (under way when a process ended); the "
                "cost is an estimate\n";
    }
    if (end.counts.changed != 0) {
        text += setup::counted(end.counts.changed, "finished row") +
                " of the input changed since and kept the earlier result\n";
    }
    const std::string& letters = end.dead_letters;
    if (end.counts.failed + end.counts.rejected != 0 && !letters.empty()) {
        text += "rows without a result: " + letters;
        if (end.counts.failed != 0 && !asked.run_folder().empty())
            text += "; --retry-failed runs the failed ones again";
        text += "\n";
    }
    text += results_line(end, asked);
    if (has_more(end)) {
        const std::string next = how_to_go_on(end, asked);
        const auto left = end.counts.left();
        if (left && *left != 0) {
            text += (end.counts.total_is_estimate ? "about " : "") + setup::counted(*left, "row") +
                    " left" + (next.empty() ? "" : ": " + next) + "\n";
        } else if (!next.empty()) {
            text += (end.rows_left ? "rows are left: " : "") + next + "\n";
        }
    }
    return text;
}

std::string summary_json(const batch_summary& end, const failure_table& failures,
                         const batch_request& asked) {
    const batch_counts& counts = end.counts;
    boost::json::array reasons;
    for (const failure_table::group& each : failures.groups()) {
        if (reasons.size() == 100) break;
        reasons.push_back(boost::json::object{{"rows", each.rows},
                                              {"reason", each.reason},
                                              {"message", each.message},
                                              {"first", each.first_id}});
    }
    boost::json::object rows{{"total", nullptr},          {"done", counts.done},
                             {"failed", counts.failed},   {"rejected", counts.rejected},
                             {"kept", counts.kept},       {"continued", counts.continued},
                             {"retried", counts.retried}, {"changed", counts.changed},
                             {"waiting", counts.waiting}, {"asking", counts.asking},
                             {"absent", nullptr}};
    if (counts.total && !counts.total_is_estimate) {
        rows["total"] = *counts.total;
        if (const auto absent = absent_results(counts.absent, asked)) rows["absent"] = *absent;
    }
    boost::json::object members{{"exit_code", static_cast<int>(end.code())},
                                {"rows_left", end.rows_left},
                                {"stopped_by", nullptr},
                                {"rows", std::move(rows)},
                                {"parked_calls", counts.parked},
                                {"batches", end.batches},
                                {"maybe_paid", counts.maybe_paid},
                                {"spent", json_of(counts.spent)},
                                {"spent_now", json_of(counts.spent_now)},
                                {"seconds", std::round(end.seconds * 1000) / 1000},
                                {"failures", std::move(reasons)},
                                {"results", end.results},
                                {"dead_letters", end.dead_letters},
                                {"run", nullptr},
                                {"edited", end.edited},
                                {"mixed", end.mixed},
                                {"outdated", end.outdated},
                                {"next", nullptr}};
    if (has_more(end)) {
        if (const std::string next = how_to_go_on(end, asked); !next.empty())
            members["next"] = next;
    }
    if (const std::string cause = stopped_by(end); !cause.empty()) members["stopped_by"] = cause;
    if (!end.problems.empty())
        members["problems"] = boost::json::array(end.problems.begin(), end.problems.end());
    if (const std::string run = asked.run_folder(); !run.empty()) members["run"] = run;
    if (end.failure) {
        members["error"] = boost::json::object{{"message", end.failure->message()},
                                               {"hint", end.failure->info().hint}};
    }
    return setup::json_line(members);
}

} // namespace heddle::cli
