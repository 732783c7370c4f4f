#include "batch/results/result_emitter.hpp"

#include "batch/results/output_mark.hpp"
#include "batch/rows/end_guard.hpp"

#include <heddle/base/exceptions.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

constexpr std::size_t max_waiting = 4000;
/// Of values, errors and rows: some of them have megabytes.
constexpr std::size_t max_batch_bytes = std::size_t{8} << 20;
constexpr std::size_t max_waiting_bytes = std::size_t{32} << 20;
/// Each batch is flushed to the disk: rows that end one by one wait for others for so long.
constexpr auto gathering = std::chrono::milliseconds(20);

} // namespace

std::size_t bytes_of(const ended_row& row) noexcept {
    const ports::row_end& end = row.result.end;
    std::size_t bytes =
        sizeof row + row.result.id.size() + end.value_json.size() + end.error_json.size();
    if (row.letter)
        bytes +=
            row.letter->row_json.size() + row.letter->error_json.size() + row.letter->raw.size();
    return bytes;
}

void result_emitter::put(std::uint64_t position, ended_row row) {
    (of_.ordered ? later_bytes_ : ready_bytes_) += bytes_of(row);
    if (of_.ordered) {
        later_.emplace(position, std::move(row));
        release();
    } else {
        ready_.push_back(std::move(row));
    }
    changed_.notify();
}

void result_emitter::pass(std::uint64_t position) {
    if (!of_.ordered) return;
    later_.emplace(position, std::nullopt);
    release();
    changed_.notify();
}

void result_emitter::release() {
    while (!later_.empty() && later_.begin()->first == next_) {
        if (auto& row = later_.begin()->second) {
            const std::size_t bytes = bytes_of(*row);
            later_bytes_ -= bytes;
            ready_bytes_ += bytes;
            ready_.push_back(*std::move(row));
        }
        later_.erase(later_.begin());
        ++next_;
    }
}

void result_emitter::close() noexcept {
    closed_ = true;
    changed_.notify();
}

bool result_emitter::has_room(std::uint64_t position, std::uint64_t window) const noexcept {
    if (is_full()) return false;
    if (!of_.ordered || position == next_) return true;
    return position < next_ + window && later_bytes_ < max_waiting_bytes;
}

bool result_emitter::is_full() const noexcept {
    return ready_.size() >= max_waiting || ready_bytes_ >= max_waiting_bytes;
}

std::vector<ended_row> result_emitter::take_batch() {
    std::vector<ended_row> batch;
    std::size_t bytes = 0;
    while (!ready_.empty() && batch.size() < max_batch && bytes < max_batch_bytes) {
        bytes += bytes_of(ready_.front());
        batch.push_back(std::move(ready_.front()));
        ready_.pop_front();
    }
    ready_bytes_ -= bytes;
    return batch;
}

result<void> result_emitter::write(std::vector<ended_row> batch) {
    std::vector<rows::row_result> results;
    std::vector<rows::dead_letter> letters;
    for (ended_row& each : batch) {
        if (each.letter && of_.letters) letters.push_back(*std::move(each.letter));
        if (!each.letter || of_.errors_in_output) results.push_back(std::move(each.result));
    }
    if (!results.empty()) {
        HEDDLE_CHECK(of_.results.write(results));
        HEDDLE_CHECK(of_.results.flush());
    }
    if (!letters.empty()) {
        HEDDLE_CHECK(of_.letters->write(letters));
        HEDDLE_CHECK(of_.letters->flush());
    }
    return {};
}

coro::task<result<void>> result_emitter::run(coro::call_context context) {
    end_guard writing([this] { // rows would wait for room for ever
        if (!failure_) failure_ = out_of_memory();
        of_.on_change();
    });
    while (!failure_) {
        if (ready_.empty()) {
            if (closed_ && !of_.journal && !later_.empty()) {
                // Nobody else keeps what follows a gap.
                next_ = later_.begin()->first;
                release();
                continue;
            }
            if (closed_) break;
            (void)co_await changed_.wait(context);
            continue;
        }
        const bool is_batch = ready_.size() >= max_batch || ready_bytes_ >= max_batch_bytes;
        if (!closed_ && !is_batch) {
            (void)co_await coro::sleep_until(context, context.loop->now() + gathering);
        }
        std::vector<ended_row> batch = take_batch();
        std::vector<std::uint64_t> numbers;
        numbers.reserve(batch.size());
        for (const ended_row& each : batch) numbers.push_back(each.result.end.row);
        const std::size_t count = batch.size();
        result<void> wrote;
        std::string mark;
        if (of_.holds_status) of_.output.hold_status(true);
        const bool has_results = std::any_of(
            batch.begin(), batch.end(),
            [this](const ended_row& each) { return !each.letter || of_.errors_in_output; });
        const bool notes_writing = of_.journal && of_.is_stream && of_.note_writing && has_results;
        if (notes_writing) {
            // Else the next process would not know of a line that a kill has broken.
            wrote = of_.note_writing(true);
            result<void> noted = co_await of_.journal->flush(context);
            if (wrote) wrote = std::move(noted);
        }
        if (wrote) {
            result<void> ran = co_await of_.workers.run(
                [&](const std::atomic<bool>&) {
                    wrote = write(std::move(batch));
                    if (wrote && of_.keep_mark) mark = mark_of_output(of_.file, of_.results.size());
                },
                context);
            if (!ran) wrote = std::move(ran).error();
        }
        if (of_.holds_status) of_.output.hold_status(false);
        if (wrote && !mark.empty()) wrote = of_.keep_mark(std::move(mark));
        if (wrote && of_.journal) {
            wrote = of_.journal->note_emitted(std::move(numbers), of_.results.size());
        }
        if (wrote && notes_writing) wrote = of_.note_writing(false);
        if (wrote && of_.journal && of_.is_stream) {
            // Else all that is written until the note is on the disk would be written again.
            result<void> noted = co_await of_.journal->flush(context);
            wrote = std::move(noted);
        }
        if (wrote) written_ += count;
        else failure_ = std::move(wrote).error();
        of_.on_change();
    }
    writing.ended();
    if (failure_) co_return *failure_;
    co_return result<void>();
}

} // namespace heddle::cli
