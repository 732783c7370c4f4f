#include "batch/plan/batch_plan.hpp"

#include "batch/plan/other_answer.hpp"
#include "batch/plan/row_changes.hpp"
#include "batch/progress/batch_counts.hpp"
#include "batch/progress/batch_summary.hpp"
#include "batch/rows/row_attempt.hpp"
#include "batch/rows/taken_row.hpp"
#include "table.hpp"

#include <heddle/lang/realm.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <chrono>
#include <set>

namespace heddle::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds max_row = 30s; ///< without --timeout
constexpr std::chrono::milliseconds shortest_limit = 3s;
constexpr std::size_t max_others = 1000;   ///< rows in which costs are looked up
constexpr std::uint64_t enough_calls = 20; ///< of a task, for the mean of its cost

std::string shown_name(const std::string& name) {
    return name.starts_with(task_prefix) ? name.substr(task_prefix.size()) : name;
}

std::string amount(double cost) { return cost > 0 ? setup::dollars(cost) : "$0"; }

std::string range_text(double least, double most, bool has_most) {
    std::string text = amount(least);
    if (most > least) text += " to " + amount(most);
    return has_most ? text : text + " or more";
}

} // namespace

coro::task<result<void>> batch_plan::run(coro::call_context context) {
    result<std::unique_ptr<row_session>> session = co_await of_.sessions.open(context);
    if (!session) co_return std::move(session).error();
    for (;;) {
        result<std::optional<taken_row>> next =
            co_await next_taken(&of_.reader, of_.filter, context);
        if (!next) co_return std::move(next).error();
        if (!*next) break;
        const taken_row& part = **next;
        if (++total_ % 64 == 0) co_await coro::yield_now(*context.loop);
        const rows::row_origin& origin = rows::origin_of(part.item);
        const known_table::match found = of_.known.look_up(origin);
        const bool outdated = found.known && found.known->outdated;
        const bool ended = found.known && found.known->status != ports::row_status::begun;
        const bool failed = ended && found.known->status != ports::row_status::done;
        const bool retried = failed && of_.asked.retries(origin.id);
        const bool stays = found.known && found.known->status == ports::row_status::done;
        if (!found.duplicate && of_.edition.lets_wait(found.known, of_.asked, origin.id)) {
            ++waiting_;
            if (stays && others_.size() < max_others) others_.push_back(found.known->row);
        } else if (of_.edition.keeps_end(found, origin, of_.asked)) {
            ++finished_;
            if (stays && others_.size() < max_others) others_.push_back(found.known->row);
        } else if (std::holds_alternative<rows::bad_row>(part.item) || part.problem ||
                   found.duplicate) {
            ++rejected_;
        } else if (!found.known) {
            ++fresh_;
        } else {
            const rows::row row = std::get<rows::row>(part.item);
            const bool goes_on = !outdated && !(retried && of_.edition.failed_differ);
            const bool was_rejected = found.known->status == ports::row_status::rejected;
            result<void> looked;
            if (was_rejected && !outdated)
                looked = co_await look_at_rejected(row, *found.known, session->get(), context);
            else if (goes_on)
                looked = co_await look_at_begun(row, *found.known, session->get(), context);
            else looked = co_await look_at(row, *found.known, session->get(), context);
            if (!looked) co_return looked;
            session = co_await of_.sessions.open(context);
            if (!session) co_return std::move(session).error();
        }
    }
    result<void> found = co_await find_costs(context);
    co_return found;
}

coro::task<row_outcome> batch_plan::execute(const rows::row& row, row_session* with, plan_log* log,
                                            coro::call_context context) {
    host::run_options bounds = of_.tools.bounds();
    bounds.cancel = context.cancel;
    bounds.until = context.until;
    bounds.steps = log;
    row_outcome outcome = co_await attempt_row(with, &of_.binding, &row, bounds);
    co_return outcome;
}

plan_records batch_plan::records_for(const rows::row& row, const ports::known_row& known,
                                     std::vector<ports::step_record> records,
                                     row_session& with) const {
    const bool has_failed = known.status == ports::row_status::failed;
    return plan_records_of(
        {known.row, of_.seed, has_failed, has_failed && of_.asked.retries(row.id)},
        std::move(records), with.get().memory());
}

coro::clock::duration batch_plan::longest() const {
    return of_.asked.row_timeout.value_or(max_row);
}

coro::task<result<void>> batch_plan::look_at_begun(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    const rows::row& row, const ports::known_row& known, row_session* with,
    coro::call_context context) {
    result<std::vector<ports::step_record>> records =
        co_await of_.journal->records_of(known.row, context);
    if (!records) co_return std::move(records).error();
    const bool has_failed = known.status == ports::row_status::failed;
    const bool differs = has_failed ? of_.edition.failed_differ : of_.edition.begun_differ;
    const bool replays = known.content == row.content && !differs;
    plan_records known_of = replays ? replayed_records_of({known.row, of_.seed, has_failed, true},
                                                          *records, with->get().memory())
                                    : records_for(row, known, *records, *with);
    std::optional<plan_log> replayed(std::in_place, std::move(known_of.records), known_of.seed,
                                     false, std::move(known_of.is_failure), replays);
    auto until = context.loop->now() + longest();
    row_outcome outcome =
        co_await execute(row, with, &*replayed, context.with_deadline(coro::deadline(until)));
    if (outcome.misfit) { // it will start over, and its responses are used as after an edit
        known_of = records_for(row, known, *std::move(records), *with);
        replayed.emplace(std::move(known_of.records), known_of.seed, false,
                         std::move(known_of.is_failure));
        until = context.loop->now() + longest();
        outcome =
            co_await execute(row, with, &*replayed, context.with_deadline(coro::deadline(until)));
    }
    const plan_log& log = *replayed;
    if (outcome.what == row_outcome::kind::rejected) {
        ++rejected_;
        co_return result<void>();
    }
    ++begun_;
    const plan_log::steps& asked = log.asked();
    const bool asks = log.was_lost() || context.loop->now() >= until ||
                      std::any_of(asked.begin(), asked.end(), [](const auto& each) {
                          return each.second.starts_with(task_prefix);
                      });
    if (!asks) co_return result<void>();
    ++asking_;
    begun_usd_ += std::max(0.0, mean_cost().value_or(0) - log.known_usd());
    co_return result<void>();
}

coro::task<result<void>> batch_plan::look_at_rejected(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    const rows::row& row, const ports::known_row& known, row_session* with,
    coro::call_context context) {
    result<std::vector<ports::step_record>> records =
        co_await of_.journal->records_of(known.row, context);
    if (!records) co_return std::move(records).error();
    if (!records->empty()) { // before an edit it has run
        result<void> looked = co_await look_at(row, known, with, context);
        co_return looked;
    }
    const auto bound = of_.binding.bind(with->get(), with->main(), row.json);
    ++(bound ? fresh_ : rejected_);
    co_return result<void>();
}

coro::task<result<void>> batch_plan::look_at(
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): they outlive it
    const rows::row& row, const ports::known_row& known, row_session* with,
    coro::call_context context) {
    result<std::vector<ports::step_record>> records =
        co_await of_.journal->records_of(known.row, context);
    if (!records) co_return std::move(records).error();
    count_costs(*records);
    plan_records known_of = records_for(row, known, *std::move(records), *with);
    const auto& has_failed_there = known_of.is_failure;
    plan_log first(known_of.records, known_of.seed, false, has_failed_there);
    const auto began = context.loop->now();
    const row_outcome outcome = co_await execute(
        row, with, &first, context.with_deadline(coro::deadline(began + longest())));
    if (outcome.what == row_outcome::kind::rejected) {
        ++rejected_;
        co_return result<void>();
    }
    const auto calls = [](const plan_log::steps& steps) {
        return std::any_of(steps.begin(), steps.end(),
                           [](const auto& each) { return is_call(each.second); });
    };
    const bool asks = calls(first.asked());
    // What the workflow refuses now it may accept once it is answered anew.
    const bool may_go_on = asks && outcome.what == row_outcome::kind::failed;
    bool is_open = first.was_lost() || may_go_on || context.loop->now() - began >= longest();
    row_changes changes;
    if (asks) {
        // What is altered may keep a loop from ending.
        const auto at_most = std::min<coro::clock::duration>(
            longest(),
            std::max<coro::clock::duration>(shortest_limit, 10 * (context.loop->now() - began)));
        for (const bool replaces : {false, true}) {
            plan_log altered(known_of.records, known_of.seed, !replaces, has_failed_there);
            if (replaces) {
                altered.replace_answers([memory = &with->get().memory()](const std::string& body) {
                    return other_answer(*memory, body);
                });
            }
            const auto starts = context.loop->now();
            const row_outcome ended = co_await execute(
                row, with, &altered, context.with_deadline(coro::deadline(starts + at_most)));
            is_open = is_open || context.loop->now() - starts >= at_most;
            changes.add(first, altered, ended.what == row_outcome::kind::done);
        }
    }
    if (is_open) ++open_ended_;
    if (changes.makes_others()) ++other_calls_;
    count_calls(first, changes);
    ++(asks ? again_ : unchanged_);
    co_return result<void>();
}

void batch_plan::count_calls(const plan_log& first, const row_changes& changes) {
    std::set<std::string> of_row;
    for (const auto& [path, step] : first.asked()) {
        if (!is_call(step)) continue;
        ++tasks_[step].again;
        of_row.insert(step);
    }
    for (const auto& [path, step] : first.known()) {
        if (!is_call(step)) continue;
        if (!changes.changed().contains(path)) ++tasks_[step].kept;
        of_row.insert(step);
    }
    for (const auto& [step, count] : changes.most()) {
        tasks_[step].depends += count;
        of_row.insert(step);
    }
    for (const std::string& each : of_row) ++tasks_[each].rows;
}

void batch_plan::count_costs(const std::vector<ports::step_record>& records) {
    // A call has cost what its requests have, and what its end has counted besides. A step that was
    // repeated is a further call. Those of earlier versions show what a task costs only where the
    // last one does not.
    using ports::step_kind;
    std::map<ports::digest128, ports::step_spending> under_way;
    std::map<ports::digest128, ports::step_spending> earlier;
    for (const ports::step_record& each : records) {
        const bool is_past = ports::is_of_earlier_program(each.kind);
        auto& open = is_past ? earlier : under_way;
        const bool ends = each.kind == step_kind::answer || each.kind == step_kind::composed ||
                          (each.kind == step_kind::past && is_call(each.name));
        const bool responds = each.kind == step_kind::request || each.kind == step_kind::reused ||
                              each.kind == step_kind::spare;
        if (!ends && !responds) continue;
        ports::step_spending& spent = open[each.path];
        spent += each.spent;
        if (!ends) continue;
        const ports::step_spending whole = std::exchange(spent, {});
        const bool was_answered = whole.input_tokens != 0 || whole.output_tokens != 0;
        if (!is_call(each.name) || !was_answered || whole.unpriced != 0) continue;
        task_plan& task = tasks_[each.name];
        ++(is_past ? task.priced_before : task.priced);
        (is_past ? task.cost_before_usd : task.cost_usd) += whole.cost_usd;
    }
}

bool batch_plan::lacks_costs() const {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& each) {
        const task_plan& task = each.second;
        return !each.first.starts_with(tool_prefix) && task.again + task.depends != 0 &&
               task.priced + task.priced_before < enough_calls;
    });
}

coro::task<result<void>> batch_plan::find_costs(coro::call_context context) {
    for (const std::uint64_t each : others_) {
        if (!lacks_costs()) break;
        result<std::vector<ports::step_record>> records =
            co_await of_.journal->records_of(each, context);
        if (!records) co_return std::move(records).error();
        count_costs(*records);
    }
    co_return result<void>();
}

std::optional<batch_plan::cost_range> batch_plan::cost_of(const task_plan& task) {
    if (task.again + task.depends == 0) return cost_range{};
    if (task.priced + task.priced_before == 0) {
        if (task.again != 0) return std::nullopt;
        return cost_range{0, 0, false};
    }
    const double mean = task.priced != 0
                            ? task.cost_usd / static_cast<double>(task.priced)
                            : task.cost_before_usd / static_cast<double>(task.priced_before);
    return cost_range{mean * static_cast<double>(task.again),
                      mean * static_cast<double>(task.again + task.depends)};
}

std::optional<batch_plan::cost_range> batch_plan::cost_of_tasks() const {
    cost_range sum;
    for (const auto& [name, task] : tasks_) {
        if (name.starts_with(tool_prefix)) continue;
        const auto cost = cost_of(task);
        if (!cost) return std::nullopt;
        sum.least += cost->least;
        sum.most += cost->most;
        sum.has_most = sum.has_most && cost->has_most;
    }
    if (other_calls_ != 0) sum.has_most = false;
    return sum;
}

std::optional<double> batch_plan::mean_cost() const {
    const store::row_sample& sample = of_.earlier.sample;
    if (sample.rows == 0 || sample.spent.unpriced != 0) return std::nullopt;
    return sample.spent.cost_usd / static_cast<double>(sample.rows);
}

std::optional<double> batch_plan::new_cost() const {
    if (fresh_ + asking_ == 0) return 0;
    const auto mean = mean_cost();
    if (!mean) return std::nullopt;
    return *mean * static_cast<double>(fresh_) + begun_usd_;
}

std::string batch_plan::bounds_text() const {
    const ports::step_spending& spent = of_.earlier.spent;
    std::string text;
    if (of_.asked.budget_usd) {
        const double left = *of_.asked.budget_usd - spent.cost_usd;
        const auto again = cost_of_tasks();
        const auto fresh = new_cost();
        const bool is_known = again && again->has_most && fresh;
        if (!is_known || again->most + *fresh > std::max(0.0, left) * (1 + 1e-9)) {
            text += "--budget-usd: " + amount(spent.cost_usd) + " of " +
                    amount(*of_.asked.budget_usd) + " spent; " +
                    (left > 0 ? "no row starts once another " + amount(left) + " is spent"
                              : std::string("only rows that need no request run")) +
                    "\n";
        }
    }
    if (of_.asked.max_calls) {
        const std::uint64_t most = *of_.asked.max_calls;
        const std::uint64_t left = most - std::min<std::uint64_t>(most, spent.requests);
        std::uint64_t calls = 0;
        for (const auto& [name, task] : tasks_) {
            if (!name.starts_with(tool_prefix)) calls += task.again + task.depends;
        }
        if (calls > left || fresh_ + begun_ + open_ended_ + other_calls_ != 0) {
            text += "--max-calls: " + setup::grouped(spent.requests) + " of " +
                    setup::counted(most, "call") + " used; " +
                    (left != 0 ? "no row starts after " + setup::counted(left, "more call")
                               : std::string("only rows that need no request run")) +
                    "\n";
        }
    }
    return text;
}

std::string batch_plan::text(unsigned columns) const {
    std::string text = setup::counted(total_, "row") + ":";
    std::string rows;
    const auto add = [&](std::uint64_t count, const std::string& what) {
        if (count != 0) rows += (rows.empty() ? " " : ", ") + setup::grouped(count) + " " + what;
    };
    add(again_, "would call models or tools again");
    add(unchanged_, "would run again without a call");
    add(finished_, "finished");
    add(begun_, "would continue");
    add(fresh_, "new");
    add(waiting_, "would wait for a command without a retry");
    add(rejected_, "would be rejected");
    text += rows + "\n";
    table lines;
    for (const char* heading : {"task", "rows", "again", "if responses differ", "kept", "cost"})
        lines.column(heading);
    bool listed = false;
    for (const auto& [name, task] : tasks_) {
        if (task.rows == 0) continue;
        listed = true;
        const auto cost = cost_of(task);
        std::string price = cost ? range_text(cost->least, cost->most, cost->has_most) : "unknown";
        if (name.starts_with(tool_prefix)) price.clear();
        lines.add({shown_name(name), setup::grouped(task.rows), setup::grouped(task.again),
                   setup::grouped(task.depends), setup::grouped(task.kept), std::move(price)});
    }
    if (listed) text += lines.text(columns);
    if (open_ended_ != 0) {
        text += "at least: " + setup::counted(open_ended_, "row") +
                " would ask what was never answered, or take too long, and what follows is not "
                "known\n";
    }
    if (other_calls_ != 0) {
        text += "if responses differ, " + setup::counted(other_calls_, "row") +
                (other_calls_ == 1 ? " makes" : " make") +
                " calls that were not made before, and what follows these is not known\n";
    }
    if (fresh_ + begun_ != 0) {
        const auto cost = new_cost();
        text += setup::counted(fresh_ + begun_, "row") + " to run: ";
        if (fresh_ + asking_ == 0) text += "all responses are recorded\n";
        else if (cost) text += "about " + amount(*cost) + ", as the rows before\n";
        else text += "cost unknown; --dry-run --sample-rows 20 finds out\n";
    }
    const auto cost = cost_of_tasks();
    if (again_ + unchanged_ != 0) {
        text += "cost of running again: " +
                (cost ? (open_ended_ != 0 ? "at least "
                         : cost->most > 0 ? "about "
                                          : "") +
                            range_text(cost->least, cost->most, cost->has_most)
                      : std::string("unknown")) +
                "\n";
    }
    return text + bounds_text();
}

std::string batch_plan::json() const {
    boost::json::array tasks;
    for (const auto& [name, task] : tasks_) {
        if (task.rows == 0) continue;
        boost::json::object one{{"name", shown_name(name)}, {"rows", task.rows},
                                {"again", task.again},      {"depends", task.depends},
                                {"kept", task.kept},        {"cost_usd", nullptr},
                                {"max_cost_usd", nullptr}};
        if (const auto cost = cost_of(task)) {
            one["cost_usd"] = setup::rounded_usd(cost->least);
            if (cost->has_most) one["max_cost_usd"] = setup::rounded_usd(cost->most);
        }
        tasks.push_back(std::move(one));
    }
    boost::json::object members{{"rows", total_},
                                {"again", again_},
                                {"unchanged", unchanged_},
                                {"finished", finished_},
                                {"begun", begun_},
                                {"new", fresh_},
                                {"waiting", waiting_},
                                {"absent", nullptr},
                                {"rejected", rejected_},
                                {"open_ended", open_ended_},
                                {"other_calls", other_calls_},
                                {"tasks", std::move(tasks)},
                                {"cost_usd", nullptr},
                                {"max_cost_usd", nullptr},
                                {"new_cost_usd", nullptr},
                                {"budget_left_usd", nullptr},
                                {"calls_left", nullptr}};
    if (const auto absent = absent_results(of_.known.unseen_ends(), of_.asked))
        members["absent"] = *absent;
    const ports::step_spending& spent = of_.earlier.spent;
    if (of_.asked.budget_usd) {
        members["budget_left_usd"] =
            setup::rounded_usd(std::max(0.0, *of_.asked.budget_usd - spent.cost_usd));
    }
    if (of_.asked.max_calls) {
        members["calls_left"] =
            *of_.asked.max_calls - std::min<std::uint64_t>(*of_.asked.max_calls, spent.requests);
    }
    if (const auto cost = cost_of_tasks()) {
        members["cost_usd"] = setup::rounded_usd(cost->least);
        if (cost->has_most) members["max_cost_usd"] = setup::rounded_usd(cost->most);
    }
    if (const auto cost = new_cost()) members["new_cost_usd"] = setup::rounded_usd(*cost);
    return setup::json_line(members);
}

} // namespace heddle::cli
