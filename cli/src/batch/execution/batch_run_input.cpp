// How a batch takes its rows: which of them are finished, which cannot run, which become jobs.
#include "batch/execution/batch_run.hpp"

#include <heddle/host/row_history.hpp>
#include <heddle/setup/journal/row_failures.hpp>

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t rows_at_once = 256; ///< taken from the feed, or from the journal
constexpr std::size_t max_kept_bytes = std::size_t{32} << 20; ///< of results of earlier processes

[[nodiscard]] bool is_finished(ports::row_status status) noexcept {
    return status != ports::row_status::begun;
}

/// The letter of a row that has ended without a result.
[[nodiscard]] rows::dead_letter letter_of(const rows::row_item& item, const ports::row_end& end) {
    rows::dead_letter letter;
    if (const auto* bad = std::get_if<rows::bad_row>(&item)) {
        letter = rows::dead_letter_of(*bad);
    } else {
        const auto& row = std::get<rows::row>(item);
        letter.id = row.id;
        letter.file = *row.file;
        letter.line = row.line;
        letter.row_json = row.json;
    }
    letter.number = end.row;
    letter.error_json = end.error_json;
    return letter;
}

} // namespace

coro::task<result<void>> batch_run::emit_earlier() {
    std::uint64_t first = 0;
    for (std::size_t bytes = 0; bytes < max_kept_bytes;) {
        result<std::vector<ports::row_end>> ends =
            co_await of_.journal->ends_to_emit(first, rows_at_once, context());
        if (!ends) co_return std::move(ends).error();
        has_all_kept_ends_ = ends->empty();
        if (has_all_kept_ends_) break;
        first = ends->back().row + 1;
        for (ports::row_end& each : *ends) {
            bytes += each.value_json.size() + each.error_json.size();
            kept_ends_.push_back(std::move(each));
        }
    }
    co_return result<void>();
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
coro::task<result<void>> batch_run::read_more(coro::nursery& rows) {
    if (read_.empty()) {
        // A reader that has no row yet is not to keep others from their next attempt.
        const auto at_most = of_.tools.loop().now() + 250ms;
        coro::call_context waiting = context().with_cancel(reading_);
        result<std::vector<rows::row_item>> more = co_await of_.feed.next_batch(
            rows_at_once, waiting.with_deadline(coro::deadline(at_most)));
        if (!more) {
            if (reading_.requested() || of_.tools.loop().now() >= at_most) co_return result<void>();
            // The rows before it run: the input fails at the same place the next time.
            input_failure_ = std::move(more).error();
            input_ended_ = true;
            if (positions_ != 0) {
                of_.say("the input ends early: " + input_failure_->message() +
                        "; the rows before that place run to their ends");
            }
            co_return result<void>();
        }
        if (more->empty()) {
            input_ended_ = true;
            note_input_end();
            co_return result<void>();
        }
        for (rows::row_item& each : *more) read_.push_back(std::move(each));
    }
    rows::row_item item = std::move(read_.front());
    read_.pop_front();
    row_filter::verdict found{true, {}};
    if (of_.filter) {
        result<row_filter::verdict> looked =
            co_await of_.filter->look(&item, context().with_cancel(reading_));
        if (!looked) co_return result<void>(); // no further row is read
        found = *std::move(looked);
        if (!found.takes) co_return result<void>();
        input_ended_ = of_.filter->is_complete();
    }
    result<std::unique_ptr<row_job>> job =
        co_await admit(std::move(item), std::move(found.problem), rows);
    if (!job) co_return std::move(job).error();
    next_ = *std::move(job);
    if (input_ended_) note_input_end();
    co_return result<void>();
}

void batch_run::note_input_end() {
    const std::vector<ports::known_row>& rows = of_.known.rows();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (of_.known.was_seen(i) || rows[i].outdated || !is_finished(rows[i].status)) continue;
        ++counted_.absent;
        if (counts_as_finished(rows[i])) continue;
        // It was to be retried, and is not, since there is nothing to retry it with.
        ++counted_.kept;
        ++(rows[i].status == ports::row_status::failed ? counted_.failed : counted_.rejected);
    }
    total_ = positions_ + counted_.absent;
}

coro::task<result<std::unique_ptr<row_job>>> batch_run::admit(
    rows::row_item item, std::optional<error> problem,
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): it outlives the call
    coro::nursery& rows) {
    const std::uint64_t position = positions_++;
    const rows::row_origin& origin = rows::origin_of(item);
    const known_table::match found = of_.known.look_up(origin);
    if (!found.duplicate && of_.edition.lets_wait(found.known, of_.asked, origin.id)) {
        ++waiting_;
        of_.emitter.pass(position);
        co_return nullptr;
    }
    if (auto* bad = std::get_if<rows::bad_row>(&item)) problem = bad->problem;
    if (found.known && found.known->status != ports::row_status::rejected) first_rows_.accept();
    if (found.known && !found.known->outdated && is_finished(found.known->status)) {
        const ports::row_status status = found.known->status;
        const bool has_result = status == ports::row_status::done;
        const bool again = !of_.edition.keeps_end(found, origin, of_.asked);
        if (again && !of_.asked.retry_failed) { // it counted as finished
            --counted_.kept;
            --(status == ports::row_status::failed ? counted_.failed : counted_.rejected);
        }
        if (!again) {
            if (of_.asked.retry_failed && !has_result) { // it did not count as finished
                ++counted_.kept;
                ++(status == ports::row_status::failed ? counted_.failed : counted_.rejected);
            }
            if (found.known->content != origin.content) ++counted_.changed;
            if (status == ports::row_status::rejected && !found.duplicate)
                first_rows_.count_rejected(item, problem);
            result<void> done = co_await emit_kept(*found.known, std::move(item), position);
            if (!done) co_return std::move(done).error();
            co_return nullptr;
        }
    }
    if (of_.parking && !found.duplicate && of_.parking->waits(found.number)) {
        note_waiting(position);
        co_return nullptr;
    }
    if (!found.duplicate) {
        auto none = first_rows_.look(item, problem);
        if (none && !of_.asked.skips_all_failures) {
            // The row is left: the same command finds it again, and stops at it again.
            columns_failure_ = std::move(none);
            gate_.stop(stop_cause::all_fail);
            ++unfinished_;
            of_.emitter.pass(position);
            co_return nullptr;
        }
    }
    if (problem) {
        row_outcome outcome = failed_outcome(*problem, source_map());
        if (auto done = reject(std::move(item), found, position, std::move(outcome), rows); !done)
            co_return std::move(done).error();
        co_return nullptr;
    }
    if (found.duplicate) {
        const error again =
            error(errc::invalid_argument, *origin.file + ", line " + std::to_string(origin.line) +
                                              ": an earlier row has the id \"" + origin.id + "\"")
                .with_hint("the values of the --id column must differ");
        row_outcome outcome = failed_outcome(again, source_map());
        if (auto done = reject(std::move(item), found, position, std::move(outcome), rows); !done)
            co_return std::move(done).error();
        co_return nullptr;
    }
    auto job = std::make_unique<row_job>();
    job->row = std::move(std::get<rows::row>(item));
    job->number = found.number;
    job->position = position;
    result<void> ready = prepare(*job, found.known);
    if (!ready) co_return std::move(ready).error();
    co_return job;
}

result<void> batch_run::prepare(row_job& job, const ports::known_row* known) {
    if (!of_.journal) return {};
    if (!known) return {};
    const bool begun = known->status == ports::row_status::begun;
    const bool differs = begun ? of_.edition.begun_differ : of_.edition.failed_differ;
    const bool is_same = !known->outdated && known->content == job.row.content && !differs;
    if (begun && is_same) {
        job.has_records = true;
        job.has_begun = true;
        job.is_continued = true;
        return {};
    }
    const bool has_failed = known->status == ports::row_status::failed;
    if (has_failed && is_same) {
        HEDDLE_CHECK(of_.journal->retry_row(known->row));
        job.has_records = true;
        job.has_ended = true;
        job.has_begun = true;
        job.asks_anew = true; // also if its records do not fit and it starts over
        return {};
    }
    // Another program or text: what it asks as before is answered as before.
    job.is_revised = true;
    job.was_begun = begun;
    job.has_ended = has_failed;
    job.asks_anew = has_failed && of_.asked.retries(job.row.id);
    job.is_continued = begun || known->outdated;
    return {};
}

std::deque<ports::row_end>::iterator batch_run::kept_end_of(std::uint64_t row) {
    return std::lower_bound(
        kept_ends_.begin(), kept_ends_.end(), row,
        [](const ports::row_end& end, std::uint64_t wanted) { return end.row < wanted; });
}

coro::task<result<void>> batch_run::find_kept(std::uint64_t row) {
    const auto found = kept_end_of(row);
    if (has_all_kept_ends_ || (found != kept_ends_.end() && found->row == row))
        co_return result<void>();
    // Rows in another order than before are read one by one.
    const std::size_t count = kept_hits_ == 1 ? 1 : rows_at_once;
    kept_ends_.clear();
    kept_hits_ = 0;
    result<std::vector<ports::row_end>> ends =
        co_await of_.journal->ends_to_emit(row, count, context());
    if (!ends) co_return std::move(ends).error();
    for (ports::row_end& each : *ends) kept_ends_.push_back(std::move(each));
    co_return result<void>();
}

coro::task<result<void>> batch_run::emit_kept(const ports::known_row& known, rows::row_item item,
                                              std::uint64_t position) {
    if (known.emitted || !of_.journal) {
        of_.emitter.pass(position);
        co_return result<void>();
    }
    result<void> looked = co_await find_kept(known.row);
    if (!looked) co_return looked;
    const auto found = kept_end_of(known.row);
    if (found == kept_ends_.end() || found->row != known.row) {
        of_.emitter.pass(position);
        co_return result<void>();
    }
    ended_row row;
    const rows::row_origin& origin = rows::origin_of(item);
    row.result.id = origin.id;
    row.result.end = std::move(*found);
    kept_ends_.erase(found);
    ++kept_hits_;
    if (row.result.end.status != ports::row_status::done) {
        row.letter = letter_of(item, row.result.end);
    }
    of_.emitter.put(position, std::move(row));
    co_return result<void>();
}

result<void> batch_run::reject(rows::row_item item, const known_table::match& found,
                               std::uint64_t position, row_outcome outcome, coro::nursery& rows) {
    const std::uint64_t number = found.number;
    const bool has_earlier = found.known && !found.duplicate;
    const bool was_begun = has_earlier && found.known->status == ports::row_status::begun;
    const rows::row_origin& origin = rows::origin_of(item);
    ended_row row;
    row.result.id = origin.id;
    row.result.end.row = number;
    row.result.end.status = ports::row_status::rejected;
    row.result.end.error_json = outcome.error_json;
    row.result.end.attempts = 0; // unless an earlier process has made one
    row.letter = letter_of(item, row.result.end);
    failures_.add("rejected", outcome.message, origin.id);
    if (of_.asked.strict) gate_.stop(stop_cause::bad_row);
    if (!of_.journal) {
        ++counted_.rejected;
        of_.emitter.put(position, std::move(row));
        return {};
    }
    const ports::known_row begun{number, origin.id_digest, origin.content, ports::row_status::begun,
                                 false};
    HEDDLE_CHECK(of_.journal->begin_row(begun, origin.id, row.letter->row_json));
    const std::size_t bytes = bytes_of(row);
    ++rejected_.rows;
    rejected_.bytes += bytes;
    end_guard waiting([this, bytes] {
        --rejected_.rows;
        rejected_.bytes -= bytes;
        break_off();
    });
    const earlier_work earlier{has_earlier, was_begun};
    rows.start(end_rejected(std::move(row), earlier, position, std::move(waiting)));
    return {};
}

coro::task<result<void>> batch_run::end_rejected(ended_row row, earlier_work earlier,
                                                 std::uint64_t position, end_guard waiting) {
    if (earlier.is_known) { // before an edit it has run
        result<void> added = co_await add_earlier_work(&row.result.end, earlier.was_begun);
        if (!added) co_return added;
    }
    result<void> kept = co_await of_.journal->end_row(row.result.end, context());
    if (!kept) co_return kept;
    const std::size_t bytes = bytes_of(row);
    of_.emitter.put(position, std::move(row));
    waiting.ended();
    --rejected_.rows;
    rejected_.bytes -= bytes;
    ++counted_.rejected;
    changed_.notify();
    co_return kept;
}

coro::task<result<void>> batch_run::add_earlier_work(ports::row_end* to, bool was_begun) {
    result<std::vector<ports::step_record>> records =
        co_await of_.journal->records_of(to->row, context());
    if (!records) co_return std::move(records).error();
    if (was_begun && setup::has_open_attempt(*records)) ++to->attempts; // that does not go on
    const host::row_history history = host::read_history(
        *std::move(records), [](const ports::step_record&) { return std::nullopt; });
    to->spent += history.spent;
    to->maybe_paid = to->maybe_paid || history.lost != 0;
    result<ports::row_work> work = co_await of_.journal->work_of(to->row, context());
    if (!work) co_return std::move(work).error();
    to->attempts += work->attempts;
    to->duration_ms = work->duration_ms;
    co_return result<void>();
}

} // namespace heddle::cli
