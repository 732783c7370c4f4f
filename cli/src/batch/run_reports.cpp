#include "batch/run_reports.hpp"

#include "batch/batch_counts.hpp"
#include "batch/batch_outputs.hpp"
#include "batch/failure_table.hpp"
#include "batch/lost_requests.hpp"
#include "batch/opened_run.hpp"
#include "batch/run_control.hpp"
#include "commands/evaluation.hpp"
#include "journal/parked_questions.hpp"
#include "parking/parking_report.hpp"
#include "table.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/coro/wait_point.hpp>
#include <heddle/rows/result_writer.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

namespace json = boost::json;
using ports::row_status;

constexpr std::size_t at_once = 500;

std::string_view name_of(row_status status) {
    switch (status) {
    case row_status::begun: return "begun";
    case row_status::done: return "done";
    case row_status::failed: return "failed";
    case row_status::rejected: return "rejected";
    }
    return "begun";
}

exit_code tell(const result<void>& ended, bool as_json, console& output) {
    if (ended) return exit_code::done;
    return tell_error(ended.error(), exit_code::usage, as_json, output);
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
            {"cost_usd", setup::rounded_usd(totals.spent.cost_usd)}};
}

std::string number(std::uint64_t count) { return setup::grouped(static_cast<long long>(count)); }

/// Reason and message of an error as the journal has it.
std::pair<std::string, std::string> reason_of(const std::string& error_json) {
    boost::system::error_code wrong;
    const json::value parsed = json::parse(error_json, wrong);
    if (wrong || !parsed.is_object()) return {"unknown", ""};
    const auto text = [&](std::string_view name) {
        const json::value* found = parsed.get_object().if_contains(name);
        return found && found->is_string() ? std::string(found->get_string()) : std::string();
    };
    std::string reason = text("kind");
    if (const std::string more = text("reason"); !more.empty()) reason += " " + more;
    return {std::move(reason), text("message")};
}

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

/// Calls `see` for each row of that status.
coro::task<result<void>> for_each_row(opened_run* run, std::optional<row_status> status,
                                      std::function<result<void>(store::run_row)> see,
                                      std::uint64_t most) {
    std::uint64_t first = 0;
    for (std::uint64_t seen = 0; seen < most;) {
        result<std::vector<store::run_row>> rows =
            co_await run->store->rows(first, at_once, status, run->context());
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

/// What was under way when a process ended, and is not in the totals yet.
coro::task<result<void>> add_lost_requests(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    opened_run* run, ports::run_totals& totals) {
    if (totals.begun == 0) co_return result<void>();
    result<std::vector<ports::known_row>> known = co_await run->store->known_rows(run->context());
    if (!known) co_return std::move(known).error();
    result<store::row_sample> sample = co_await run->store->sample_rows(run->context());
    if (!sample) co_return std::move(sample).error();
    result<std::vector<lost_request_record>> lost =
        co_await find_lost_requests(*run->store, *known, *sample, run->context());
    if (!lost) co_return std::move(lost).error();
    for (const lost_request_record& each : *lost) {
        totals.spent += each.record.spent;
        ++totals.maybe_paid;
    }
    co_return result<void>();
}

/// A row that waits for an answer.
struct waiting_row {
    std::string id;
    std::vector<kept_question> questions;
};

/// At most `most` of them.
coro::task<result<std::vector<waiting_row>>> waiting_rows(opened_run* run, std::size_t most) {
    std::vector<waiting_row> waiting;
    std::uint64_t first = 0;
    while (waiting.size() < most) {
        result<std::vector<store::run_row>> rows =
            co_await run->store->rows(first, at_once, row_status::begun, run->context());
        if (!rows) co_return std::move(rows).error();
        if (rows->empty()) break;
        first = rows->back().known.row + 1;
        for (const store::run_row& each : *rows) {
            result<std::vector<ports::step_record>> records =
                co_await run->store->records_of(each.known.row, run->context());
            if (!records) co_return std::move(records).error();
            std::vector<kept_question> open = open_questions(*records);
            if (!open.empty()) waiting.push_back({each.id, std::move(open)});
        }
    }
    if (waiting.size() > most) waiting.resize(most);
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
    text += "rows: " + number(totals.done) + " done, " + number(totals.failed) + " failed, " +
            number(totals.rejected) + " rejected, " + number(totals.begun) + " begun\n";
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

std::string line_of(const store::run_row& row) {
    std::string text = utf8::printable_line(row.id) + "  " + std::string(name_of(row.known.status));
    if (row.known.outdated) text += " (outdated)";
    if (!row.ended) return text + "\n";
    if (row.known.status == row_status::done) text += "  " + row.ended->value_json;
    else text += "  " + utf8::printable_line(reason_of(row.ended->error_json).second);
    return text + "\n";
}

/// How the rows of a run stand, to find those that have ended since. Rows run again after an edit
/// or a retry.
class row_states {
public:
    /// The rows that have ended since the last call; of the first one, none.
    [[nodiscard]] std::vector<std::uint64_t> ended_since(
        const std::vector<ports::known_row>& known) {
        std::vector<std::uint64_t> ended;
        std::vector<state> now;
        now.reserve(known.size());
        auto before = states_.begin();
        for (const ports::known_row& each : known) {
            while (before != states_.end() && before->row < each.row) ++before;
            const bool was_there = before != states_.end() && before->row == each.row;
            const row_status status = each.outdated ? row_status::begun : each.status;
            now.push_back({each.row, status});
            const bool is_same = was_there && before->status == status;
            if (has_begun_ && status != row_status::begun && !is_same) ended.push_back(each.row);
        }
        states_ = std::move(now);
        has_begun_ = true;
        return ended;
    }

private:
    struct state {
        std::uint64_t row;
        row_status status; ///< of an outdated row: begun
    };
    std::vector<state> states_; ///< by number
    bool has_begun_ = false;
};

/// The numbers of the last rows that have ended.
std::vector<std::uint64_t> last_ended(const std::vector<ports::known_row>& known,
                                      std::uint64_t count) {
    std::vector<std::uint64_t> last;
    for (auto each = known.rbegin(); each != known.rend() && last.size() < count; ++each) {
        if (each->status != row_status::begun) last.push_back(each->row);
    }
    std::reverse(last.begin(), last.end());
    return last;
}

coro::task<result<void>> tail(opened_run* run, std::uint64_t count, bool follow, console* output) {
    using namespace std::chrono_literals;
    row_states states;
    for (bool is_first = true, going = follow; is_first || going; is_first = false) {
        const auto began = run->loop->now();
        going = follow && !output->output_lost() && run->is_going();
        result<std::vector<ports::known_row>> known =
            co_await run->store->known_rows(run->context());
        if (!known) co_return std::move(known).error();
        std::vector<std::uint64_t> ended = states.ended_since(*known);
        if (is_first) ended = last_ended(*known, count);
        known = std::vector<ports::known_row>(); // of a million rows 50 MB
        for (const std::uint64_t number : ended) {
            result<std::optional<store::run_row>> row =
                co_await run->store->row(number, run->context());
            if (!row) co_return std::move(row).error();
            if (*row && (*row)->ended) output->out(line_of(**row));
        }
        output->settle();
        if (!going) break;
        // The rows of a large run are not read without end.
        const auto pause = std::max<coro::clock::duration>(500ms, 4 * (run->loop->now() - began));
        (void)co_await coro::sleep_until(run->context(), run->loop->now() + pause);
    }
    co_return result<void>();
}

/// What is listed of a run.
struct listed_run {
    ports::run_totals totals;
    std::string program;
    std::string started;
    bool going = false;
};

coro::task<result<void>> list(opened_run* run, listed_run* into) {
    into->totals = run->store->totals();
    into->program = run->about.program;
    into->started = run->about.started;
    into->going = run->is_going();
    co_return result<void>();
}

struct exported_rows {
    std::uint64_t written = 0;
    std::uint64_t marked = 0;   ///< of those: of an earlier version of the program
    std::uint64_t left_out = 0; ///< of an earlier version, where the format has no mark for them
};

/// Results that are written together: a database makes each write durable.
class result_group {
public:
    /// `into` outlives the group.
    explicit result_group(rows::result_writer& into) : into_(into) {}

    [[nodiscard]] result<void> add(rows::row_result one) {
        constexpr std::size_t max_rows = 1000;
        constexpr std::size_t max_bytes = std::size_t{8} << 20;
        bytes_ += one.id.size() + one.end.value_json.size() + one.end.error_json.size();
        rows_.push_back(std::move(one));
        return rows_.size() < max_rows && bytes_ < max_bytes ? result<void>() : write();
    }
    [[nodiscard]] result<void> write() {
        bytes_ = 0;
        const std::vector<rows::row_result> all = std::exchange(rows_, {});
        return all.empty() ? result<void>() : into_.write(all);
    }

private:
    rows::result_writer& into_;
    std::vector<rows::row_result> rows_;
    std::size_t bytes_ = 0;
};

coro::task<result<void>> export_rows(opened_run* run, const export_request* asked,
                                     exported_rows* exported) {
    rows::result_output to;
    to.target.file = asked->file;
    to.target.force = asked->force;
    auto writer = rows::result_writer::open(std::move(to));
    if (!writer) co_return std::move(writer).error();
    rows::result_writer* const into = writer->get();
    result_group group(*into);
    std::optional<row_status> status;
    for (const row_status each : {row_status::done, row_status::failed, row_status::rejected}) {
        if (asked->status == name_of(each)) status = each;
    }
    result<void> ok = co_await for_each_row(
        run, status,
        [&](store::run_row row) -> result<void> {
            if (!row.ended) return {};
            if (row.known.outdated && !into->marks_outdated()) {
                ++exported->left_out;
                return {};
            }
            if (row.known.outdated) ++exported->marked;
            ++exported->written;
            return group.add({std::move(row.id), *std::move(row.ended), row.known.outdated});
        },
        UINT64_MAX);
    if (ok) ok = group.write();
    if (ok) ok = into->flush();
    co_return ok;
}

} // namespace

exit_code list_runs(const std::vector<std::string>& folders, bool as_json, console& output) {
    std::vector<std::string> found;
    for (const std::string& folder : folders.empty() ? std::vector<std::string>{"."} : folders) {
        auto below = runs_below(folder);
        if (!below) return tell_usage_error(below.error(), as_json, output);
        found.insert(found.end(), below->begin(), below->end());
    }
    table lines;
    for (const char* heading :
         {"run", "program", "state", "done", "failed", "rejected", "begun", "cost", "started"})
        lines.column(heading);
    json::array all;
    for (const std::string& folder : found) {
        listed_run one;
        const auto listed = with_run(folder, [&](opened_run& run) { return list(&run, &one); });
        if (listed && as_json) {
            all.push_back(json::object{{"run", folder},
                                       {"program", one.program},
                                       {"going", one.going},
                                       {"started", one.started},
                                       {"rows", totals_json(one.totals)}});
        } else if (listed) {
            lines.add({folder, one.program, one.going ? "going" : "", number(one.totals.done),
                       number(one.totals.failed), number(one.totals.rejected),
                       number(one.totals.begun), setup::dollars(one.totals.spent.cost_usd),
                       one.started});
        }
        if (!listed) {
            if (as_json) {
                all.push_back(json::object{{"run", folder}, {"error", listed.error().message()}});
            } else {
                lines.add({folder, listed.error().message()});
            }
        }
    }
    if (as_json) output.out_data(setup::json_line(json::value(std::move(all))));
    else if (found.empty()) output.out("no runs here\n");
    else output.out(lines.text(output.traits().out_is_terminal ? output.columns() : 0));
    return exit_code::done;
}

/// Nothing: the run has begun, or nobody works on it.
static std::optional<std::string> text_of_loading(const std::string& folder, bool as_json) {
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

exit_code show_run(const std::string& run, bool as_json, console& output) {
    if (const auto folder = find_going_run(run)) {
        if (const auto text = text_of_loading(*folder, as_json)) {
            if (as_json) output.out_data(*text);
            else output.out(*text);
            return exit_code::done;
        }
    }
    return tell(with_run(run, [&](opened_run& on) { return show(&on, as_json, &output); }), as_json,
                output);
}

exit_code tail_run(const std::string& run, std::uint64_t count, bool follow, console& output) {
    return tell(with_run(run, [&](opened_run& on) { return tail(&on, count, follow, &output); }),
                false, output);
}

exit_code export_run(const export_request& asked, console& output) {
    exported_rows exported;
    const auto ended =
        with_run(asked.run, [&](opened_run& on) { return export_rows(&on, &asked, &exported); });
    if (ended && asked.file != "-")
        output.err(setup::counted(exported.written, "row") + " written to " + asked.file + "\n");
    const std::string earlier = " of an earlier version of the program ";
    if (ended && exported.marked != 0)
        output.err(setup::counted(exported.marked, "result") + earlier + "marked \"outdated\"\n");
    if (ended && exported.left_out != 0)
        output.err(setup::counted(exported.left_out, "result") + earlier +
                   "left out; an export as JSONL has and marks them\n");
    return tell(ended, asked.json, output);
}

} // namespace heddle::cli
