// The thread that writes to a run.
#pragma once

#include "store/run_queue.hpp"
#include "store/run_table_writer.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace heddle::store {

/// Writes what is queued, in order, in groups of one transaction each, and wakes who waits after
/// the commit: each loop once for a group. After a failure nothing more is written, and every call
/// fails with it. Threads: any, several at once.
class run_writer {
public:
    run_writer(run_table_writer tables, const run_store_options& options);
    /// Writes what waits.
    ~run_writer();
    run_writer(const run_writer&) = delete;
    run_writer& operator=(const run_writer&) = delete;

    /// Queues a change. `waiter`: woken after the commit that contains it; null for none.
    /// `hurries`: does not wait for a group to fill. Errors: that of an earlier write.
    [[nodiscard]] result<void> add(write_change change, std::shared_ptr<write_waiter> waiter,
                                   bool hurries = false);
    /// Whether more waits than may.
    [[nodiscard]] bool is_full() const;
    /// As of the last commit.
    [[nodiscard]] ports::run_totals totals() const;

private:
    using group = std::deque<queued_write>;
    void run();
    [[nodiscard]] result<void> write(const group& all);
    [[nodiscard]] std::chrono::nanoseconds gathering_time() const;
    void note_commit(std::chrono::nanoseconds took);
    static void wake(group& all, const std::optional<error>& failure);

    const run_durability durability_;
    const std::size_t group_records_;
    const std::chrono::milliseconds group_time_;
    const std::size_t max_queued_;
    run_table_writer tables_;                 ///< of the thread
    std::chrono::nanoseconds commit_time_{0}; ///< of the thread; 0: none has been measured

    mutable std::mutex lock_;
    std::condition_variable changed_;
    group queue_;
    std::size_t bytes_ = 0; ///< of the queue and the group that is being written
    std::chrono::steady_clock::time_point first_queued_;
    bool hurries_ = false;
    bool ending_ = false;
    std::optional<error> failure_;
    ports::run_totals totals_;
    std::thread thread_;
};

} // namespace heddle::store
