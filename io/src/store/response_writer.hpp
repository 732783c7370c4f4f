// Responses on their way into a response table.
#pragma once

#include "store/response_table.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

namespace heddle::store {

/// Writes responses one after the other on a thread of its own, which the first of them starts:
/// nobody waits for the disk, or for another process that keeps the file locked. What waits is
/// bounded in memory, and can be found. A response that cannot be written is dropped, unless the
/// file is only locked: then it is tried again until the end. Threads: any, several at once.
class response_writer {
public:
    /// Of requests and responses that wait.
    static constexpr std::size_t max_bytes = 64 * 1024 * 1024;

    explicit response_writer(response_store_options options);
    /// Writes what waits, without waiting for other processes: what is locked is dropped.
    ~response_writer();
    response_writer(const response_writer&) = delete;
    response_writer& operator=(const response_writer&) = delete;

    /// Takes the response. False: too much waits already, and `response` is as it was.
    [[nodiscard]] bool add(const std::string& request, ports::stored_response& response,
                           std::int64_t created);
    /// The response to `request` if it still waits, and is newer than `oldest`.
    [[nodiscard]] std::optional<ports::stored_response> waiting(const std::string& request,
                                                                std::int64_t oldest);
    /// Blocks until there is room for such a response, as long as others are written: until 2 s
    /// after the last one.
    void wait_for_room(const std::string& request, const ports::stored_response& response,
                       const std::atomic<bool>& abandoned);
    /// Blocks until nothing waits, for `limit` at most.
    void wait_until_done(std::chrono::milliseconds limit, const std::atomic<bool>& abandoned);
    /// Drops what waits, for who has waited long enough. The response that is being written is
    /// finished, if that takes no other process and no more than `limit`. Result: how many are
    /// lost.
    [[nodiscard]] std::size_t drop_waiting(std::chrono::milliseconds limit);
    /// What went wrong with a response, given once in the life of this.
    [[nodiscard]] std::optional<error> take_failure();

private:
    struct item {
        std::string request;
        ports::stored_response response;
        std::int64_t created = 0;
        std::size_t bytes = 0;
    };
    /// Whether `bytes` more may wait. The lock is held.
    [[nodiscard]] bool has_room(std::size_t bytes) const noexcept {
        return queue_.empty() || bytes_ + bytes <= max_bytes;
    }
    void run();
    [[nodiscard]] result<void> write(const item& one);
    void drop_first();
    void drop_last();
    void forget(const std::shared_ptr<const item>& one);

    response_table table_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<const item>> queue_;
    std::unordered_map<std::string, std::shared_ptr<const item>> newest_;
    std::size_t bytes_ = 0;
    std::chrono::steady_clock::time_point last_written_;
    std::optional<error> failure_;
    bool failed_before_ = false;
    bool writing_ = false;   ///< the first in the queue
    std::uint64_t lost_ = 0; ///< could not be written
    bool ending_ = false;
    std::atomic<bool> hurries_{false}; ///< no waiting for other processes
    std::thread thread_;
};

} // namespace heddle::store
