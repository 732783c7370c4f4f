#include "batch/plan/dry_run.hpp"

#include "batch/progress/batch_counts.hpp"
#include "batch/progress/batch_summary.hpp"
#include "batch/rows/row_attempt.hpp"
#include "batch/rows/taken_row.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/coro/semaphore.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/setup/display_text.hpp>
#include <heddle/setup/json_line.hpp>

#include <boost/json/object.hpp>

#include <cmath>

namespace heddle::cli {

namespace {

/// How many of `rows` rows that use `mean` each fit in what is left.
std::uint64_t rows_within(double left, double mean, std::uint64_t rows) {
    if (left <= 0) return 0;
    const double fit = mean > 0 ? std::floor(left / mean * (1 + 1e-9)) : static_cast<double>(rows);
    return fit >= static_cast<double>(rows) ? rows : static_cast<std::uint64_t>(fit);
}

} // namespace

coro::task<result<void>> dry_run::run(coro::call_context context) {
    result<std::unique_ptr<row_session>> taken = co_await of_.sessions.open(context);
    if (!taken) co_return std::move(taken).error();
    const std::unique_ptr<row_session> session = *std::move(taken);
    for (;;) {
        result<std::optional<taken_row>> next =
            co_await next_taken(&of_.reader, of_.filter, context);
        if (!next) co_return std::move(next).error();
        if (!*next) break;
        const taken_row& looked = **next;
        if (++total_ % 256 == 0) co_await coro::yield_now(*context.loop);
        const rows::row_origin& origin = rows::origin_of(looked.item);
        const known_table::match found = of_.known.look_up(origin);
        if (!found.duplicate && of_.edition.lets_wait(found.known, of_.asked, origin.id)) {
            ++waiting_;
            continue;
        }
        if (of_.edition.keeps_end(found, origin, of_.asked)) {
            ++finished_;
            continue;
        }
        if (found.known &&
            (found.known->outdated || found.known->status == ports::row_status::begun)) {
            ++begun_;
        }
        if (const auto* bad = std::get_if<rows::bad_row>(&looked.item)) {
            wrong_.add("rejected", bad->problem.message(), origin.id);
            continue;
        }
        if (looked.problem) {
            wrong_.add("rejected", looked.problem->message(), origin.id);
            continue;
        }
        const rows::row& row = std::get<rows::row>(looked.item);
        auto bound = of_.binding.bind(session->get(), session->main(), row.json);
        if (!bound || found.duplicate) {
            wrong_.add("rejected",
                       found.duplicate ? "an earlier row has this id" : bound.error().message(),
                       origin.id);
            continue;
        }
        ++to_run_;
        if (sampled_.size() < of_.asked.sample_rows) sampled_.push_back(row);
    }
    if (sampled_.empty()) co_return result<void>();
    result<void> ran = co_await sample(context);
    co_return ran;
}

coro::task<result<void>> dry_run::sample(coro::call_context context) {
    coro::nursery rows(context);
    batch_bounds most;
    most.concurrency = of_.asked.concurrency;
    most.budget_usd = of_.asked.budget_usd;
    most.max_calls = of_.asked.max_calls;
    start_gate gate(most, of_.earlier);
    // Under a bound one row after the other, as none of them has to cost what the others did.
    const bool is_bounded = most.budget_usd || most.max_calls;
    coro::semaphore turns(is_bounded ? 1 : of_.asked.concurrency);
    const auto one = [](dry_run* self, start_gate* bound, const rows::row* row,
                        coro::semaphore* turn,
                        coro::call_context inside) -> coro::task<result<void>> {
        result<void> my_turn = co_await turn->acquire(inside);
        if (!my_turn) co_return my_turn;
        const coro::held_permit held(*turn);
        bound->set_spent(self->sample_spent_);
        if (bound->ask(inside.loop->now()) == gate_answer::stop) {
            self->sample_stop_ = bound->cause();
            co_return result<void>();
        }
        bound->row_started();
        result<std::unique_ptr<row_session>> session = co_await self->of_.sessions.open(inside);
        if (!session) co_return std::move(session).error();
        host::run_options bounds = self->of_.tools.bounds();
        bounds.cancel = inside.cancel;
        if (self->of_.asked.row_timeout)
            bounds.until = coro::deadline(inside.loop->now() + *self->of_.asked.row_timeout);
        const row_outcome outcome =
            co_await attempt_row(session->get(), &self->of_.binding, row, bounds);
        self->sample_spent_ += outcome.spent;
        bound->row_ended(outcome.spent);
        ++self->sample_ran_;
        if (outcome.what != row_outcome::kind::done) ++self->sample_failed_;
        co_return result<void>();
    };
    for (const rows::row& row : sampled_)
        rows.start(one(this, &gate, &row, &turns, rows.context()));
    result<void> joined = co_await rows.join();
    co_return joined;
}

std::optional<std::pair<double, std::uint64_t>> dry_run::mean_cost() const {
    if (sample_ran_ != 0) {
        return std::pair(sample_spent_.cost_usd / static_cast<double>(sample_ran_), sample_ran_);
    }
    const store::row_sample& sample = of_.earlier.sample;
    if (sample.rows == 0) return std::nullopt;
    return std::pair(sample.spent.cost_usd / static_cast<double>(sample.rows), sample.rows);
}

std::optional<std::uint64_t> dry_run::requests() const {
    if (sample_ran_ == 0) return std::nullopt;
    const double mean =
        static_cast<double>(sample_spent_.requests) / static_cast<double>(sample_ran_);
    return static_cast<std::uint64_t>(std::llround(mean * static_cast<double>(to_run_)));
}

std::optional<std::uint64_t> dry_run::rows_in_budget() const {
    const auto mean = mean_cost();
    if (!of_.asked.budget_usd || !mean) return std::nullopt;
    return rows_within(*of_.asked.budget_usd - of_.earlier.spent.cost_usd, mean->first, to_run_);
}

std::optional<std::uint64_t> dry_run::rows_in_calls() const {
    const store::row_sample& before = of_.earlier.sample;
    if (!of_.asked.max_calls || (sample_ran_ == 0 && before.rows == 0)) return std::nullopt;
    const double mean =
        sample_ran_ != 0
            ? static_cast<double>(sample_spent_.requests) / static_cast<double>(sample_ran_)
            : static_cast<double>(before.spent.requests) / static_cast<double>(before.rows);
    const double left = static_cast<double>(*of_.asked.max_calls) - of_.earlier.spent.requests;
    return rows_within(left, mean, to_run_);
}

/// Lines about bounds that end the batch before its last row.
std::string dry_run::bounds_text() const {
    std::string text;
    const auto add = [&](const char* bound, const std::string& spent,
                         std::optional<std::uint64_t> rows) {
        if (!rows || *rows >= to_run_) return;
        text += std::string(bound) + " allows about " + setup::grouped(*rows) + " of the " +
                setup::counted(to_run_, "row") + (spent.empty() ? "" : " (" + spent + " before)") +
                "\n";
    };
    const ports::step_spending& spent = of_.earlier.spent;
    add("--budget-usd", spent.cost_usd > 0 ? setup::dollars(spent.cost_usd) + " spent" : "",
        rows_in_budget());
    add("--max-calls", spent.requests != 0 ? setup::counted(spent.requests, "call") : "",
        rows_in_calls());
    if (of_.edition.outdates)
        text +=
            "the program has changed since: unchanged requests cost nothing; --plan reports "
            "what is sent again\n";
    return text;
}

std::string dry_run::text(unsigned columns) const {
    std::string text =
        setup::counted(total_, "row") + ": " + setup::grouped(to_run_) + " would run";
    if (finished_ != 0) text += ", " + setup::grouped(finished_) + " are finished";
    if (waiting_ != 0)
        text += ", " + setup::grouped(waiting_) + " would wait for a command without a retry";
    if (begun_ != 0) text += ", " + setup::grouped(begun_) + " of those that run have begun";
    if (wrong_.count() != 0) text += ", " + setup::grouped(wrong_.count()) + " would be rejected";
    text += "\n" + wrong_.text(columns);
    const auto mean = mean_cost();
    if (!mean) {
        return text + "cost: unknown; --sample-rows 20 runs 20 rows to find out\n" + bounds_text();
    }
    const double cost = mean->first * static_cast<double>(to_run_);
    text += "cost: about " + (cost > 0 ? setup::dollars(cost) : std::string("$0")) + ", from " +
            setup::counted(mean->second, "row") +
            (sample_ran_ == 0 ? " that ended earlier" : " that ran now");
    if (sample_spent_.cost_usd > 0) text += " for " + setup::dollars(sample_spent_.cost_usd);
    if (sample_spent_.unpriced != 0)
        text += "; " + setup::counted(sample_spent_.unpriced, "call") + " of unknown price";
    if (sample_failed_ != 0) text += "; " + setup::grouped(sample_failed_) + " of them failed";
    if (sample_stop_ != stop_cause::none) {
        text += "; the sample stopped at --" +
                std::string(sample_stop_ == stop_cause::calls ? "max-calls" : "budget-usd") +
                (sample_stop_ == stop_cause::unpriced ? " after a call of unknown price" : "");
    }
    if (sample_spent_.requests != 0)
        text += "\nrequests: about " + setup::grouped(requests().value_or(0));
    return text + "\n" + bounds_text();
}

std::string dry_run::json() const {
    boost::json::object members{{"rows", total_},
                                {"to_run", to_run_},
                                {"finished", finished_},
                                {"begun", begun_},
                                {"waiting", waiting_},
                                {"absent", nullptr},
                                {"rejected", wrong_.count()},
                                {"sampled", sample_ran_},
                                {"sample_failed", sample_failed_},
                                {"sample_stop", to_string(sample_stop_)},
                                {"sample_cost_usd", setup::rounded_usd(sample_spent_.cost_usd)},
                                {"edited", of_.edition.outdates},
                                {"requests", nullptr},
                                {"budget_rows", nullptr},
                                {"max_calls_rows", nullptr},
                                {"cost_usd", nullptr}};
    if (const auto absent = absent_results(of_.known.unseen_ends(), of_.asked))
        members["absent"] = *absent;
    if (const auto count = requests()) members["requests"] = *count;
    if (const auto rows = rows_in_budget()) members["budget_rows"] = *rows;
    if (const auto rows = rows_in_calls()) members["max_calls_rows"] = *rows;
    if (const auto mean = mean_cost())
        members["cost_usd"] = setup::rounded_usd(mean->first * static_cast<double>(to_run_));
    return setup::json_line(members);
}

} // namespace heddle::cli
