#include "store/run_writer.hpp"

#include <heddle/coro/thread_without_signals.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace heddle::store {

run_writer::run_writer(run_table_writer tables, const run_store_options& options)
    : durability_(options.durability), group_records_(options.group_records),
      group_time_(options.group_time), max_queued_(options.max_queued), tables_(std::move(tables)),
      totals_(tables_.sums().totals), thread_(coro::thread_without_signals([this] { run(); })) {}

run_writer::~run_writer() {
    {
        const std::lock_guard held(lock_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

result<void> run_writer::add(write_change change, std::shared_ptr<write_waiter> waiter,
                             bool hurries) {
    const std::size_t bytes = bytes_of(change);
    bool wakes = false;
    {
        const std::lock_guard held(lock_);
        if (failure_) return *failure_;
        queue_.push_back({std::move(change), bytes, std::move(waiter)});
        bytes_ += bytes;
        if (queue_.size() == 1) first_queued_ = std::chrono::steady_clock::now();
        hurries_ = hurries_ || hurries;
        wakes = queue_.size() == 1 || hurries || queue_.size() == group_records_ ||
                bytes_ > max_queued_;
    }
    if (wakes) changed_.notify_one();
    return {};
}

bool run_writer::is_full() const {
    const std::lock_guard held(lock_);
    return bytes_ > max_queued_;
}

ports::run_totals run_writer::totals() const {
    const std::lock_guard held(lock_);
    return totals_;
}

result<void> run_writer::write(const group& all) {
    try {
        if (auto begun = tables_.begin(); !begun) return begun;
        for (const queued_write& each : all) {
            if (auto written = tables_.write(each.change); !written) {
                tables_.roll_back();
                return written;
            }
        }
        auto kept = tables_.commit();
        if (!kept) tables_.roll_back();
        return kept;
    } catch (const std::exception& thrown) {
        tables_.roll_back();
        return error(errc::internal, std::string("journal: ") + thrown.what());
    }
}

void run_writer::wake(group& all, const std::optional<error>& failure) {
    using waiters = std::vector<std::shared_ptr<write_waiter>>;
    std::vector<std::pair<boost::asio::execution_context*, waiters>> loops; // a few
    for (queued_write& each : all) {
        if (!each.waiter) continue;
        each.waiter->failure = failure;
        auto* loop = &boost::asio::query(each.waiter->home, boost::asio::execution::context);
        auto place = loops.begin();
        while (place != loops.end() && place->first != loop) ++place;
        if (place == loops.end()) place = loops.insert(place, {loop, {}});
        place->second.push_back(std::move(each.waiter));
    }
    for (auto& [loop, all_of_it] : loops) {
        const auto home = all_of_it.front()->home;
        boost::asio::post(home, [woken = std::move(all_of_it)] {
            for (const auto& each : woken) each->finished.notify();
        });
    }
}

// A group gathers for as long as a commit takes: then the disk is free for half of the time at
// least, and a step waits for two commits, not for a fixed time that a fast disk does not need.
// With `off` nobody waits, and fewer transactions cost less.
std::chrono::nanoseconds run_writer::gathering_time() const {
    if (durability_ == run_durability::off) return group_time_;
    return std::min<std::chrono::nanoseconds>(group_time_, commit_time_);
}

void run_writer::note_commit(std::chrono::nanoseconds took) {
    commit_time_ += (took - commit_time_) / 4; // a mean of the last few
}

void run_writer::run() {
    std::unique_lock held(lock_);
    for (;;) {
        changed_.wait(held, [&] { return !queue_.empty() || ending_; });
        if (queue_.empty()) return;
        if (durability_ != run_durability::fsync) {
            changed_.wait_until(held, first_queued_ + gathering_time(), [&] {
                return queue_.size() >= group_records_ || ending_ || hurries_ ||
                       bytes_ > max_queued_;
            });
        }
        group all = std::exchange(queue_, {});
        hurries_ = false;
        std::optional<error> failure = failure_; // of a group that was written meanwhile
        held.unlock();
        if (!failure) {
            const auto begun = std::chrono::steady_clock::now();
            if (auto written = write(all); !written) failure = std::move(written).error();
            note_commit(std::chrono::steady_clock::now() - begun);
        }
        held.lock();
        for (const queued_write& each : all) bytes_ -= each.bytes;
        if (failure) failure_ = failure;
        else totals_ = tables_.sums().totals;
        held.unlock();
        wake(all, failure);
        all.clear();
        held.lock();
    }
}

} // namespace heddle::store
