#include "batch/result_emitter.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace heddle::cli {

namespace {

constexpr std::size_t max_batch = 1000;
constexpr std::size_t max_waiting = 4000;
/// Each batch is flushed to the disk: rows that end one by one wait for others for so long.
constexpr auto gathering = std::chrono::milliseconds(20);

} // namespace

void result_emitter::put(std::uint64_t position, ended_row row) {
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
        if (auto& row = later_.begin()->second) ready_.push_back(*std::move(row));
        later_.erase(later_.begin());
        ++next_;
    }
}

void result_emitter::close() noexcept {
    closed_ = true;
    changed_.notify();
}

bool result_emitter::has_room(std::uint64_t position, std::uint64_t window) const noexcept {
    if (ready_.size() >= max_waiting) return false;
    return !of_.ordered || position < next_ + window;
}

result<void> result_emitter::write(const std::deque<ended_row>& batch) {
    std::vector<rows::row_result> results;
    std::vector<rows::dead_letter> letters;
    for (const ended_row& each : batch) {
        if (!each.letter || of_.errors_in_output) results.push_back(each.result);
        if (each.letter && of_.letters) letters.push_back(*each.letter);
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
        if (!closed_ && ready_.size() < max_batch) {
            (void)co_await coro::sleep_until(context, context.loop->now() + gathering);
        }
        std::deque<ended_row> batch;
        while (!ready_.empty() && batch.size() < max_batch) {
            batch.push_back(std::move(ready_.front()));
            ready_.pop_front();
        }
        result<void> wrote;
        if (of_.holds_status) of_.output.hold_status(true);
        result<void> ran = co_await of_.workers.run(
            [&](const std::atomic<bool>&) { wrote = write(batch); }, context);
        if (of_.holds_status) of_.output.hold_status(false);
        if (!ran) wrote = std::move(ran).error();
        if (wrote && of_.journal) {
            std::vector<std::uint64_t> numbers;
            numbers.reserve(batch.size());
            for (const ended_row& each : batch) numbers.push_back(each.result.end.row);
            wrote = of_.journal->note_emitted(std::move(numbers), of_.results.size());
        }
        if (wrote) written_ += batch.size();
        else failure_ = std::move(wrote).error();
        of_.on_change();
    }
    if (failure_) co_return *failure_;
    co_return result<void>();
}

} // namespace heddle::cli
