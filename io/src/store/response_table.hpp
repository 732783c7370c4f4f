// The table behind a response store: blocking, for a worker thread.
#pragma once

#include "store/sqlite_database.hpp"

#include <heddle/ports/response_store.hpp>
#include <heddle/store/response_store.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::store {

/// Opened by its first use, and anew when the file was deleted or replaced. Threads: any, one at a
/// time (it locks). Errors of all calls: io_error; retryable when another process kept the file
/// locked. `abandoned` ends a wait for it.
class response_table {
public:
    explicit response_table(response_store_options options) : options_(std::move(options)) {}

    /// Takes no lock that keeps others from reading or writing. When the file could not be opened
    /// or was locked, the next looks fail at once for some seconds: nobody waits again and again.
    [[nodiscard]] result<std::optional<ports::stored_response>> find(
        std::string_view request, const std::atomic<bool>* abandoned = nullptr);
    /// `created`: seconds since 1970; nothing: now.
    [[nodiscard]] result<void> keep(std::string_view request,
                                    const ports::stored_response& response,
                                    std::optional<std::int64_t> created = std::nullopt,
                                    const std::atomic<bool>* abandoned = nullptr);
    /// Whether responses were lost with the file that was open, since the last call.
    [[nodiscard]] std::optional<error> take_loss();
    [[nodiscard]] result<ports::response_store_stats> stats();
    [[nodiscard]] result<std::uint64_t> clear(std::optional<std::chrono::seconds> age);

private:
    struct open_table {
        sqlite_database database;
        sqlite_statement find;
        sqlite_statement touch;
        sqlite_statement size_of;
        sqlite_statement keep;
        sqlite_statement total;
        sqlite_statement expire;
        sqlite_statement oldest;
        sqlite_statement remove;
        /// As far as this process knows; counted before the first response and before eviction.
        std::optional<std::int64_t> bytes;
    };
    struct patience {
        std::chrono::milliseconds limit;
        const std::atomic<bool>* abandoned = nullptr;
    };
    enum class purpose : std::uint8_t { reading, writing };

    /// Ends the patience of a call with the call: its flag may not outlive it.
    class turn {
    public:
        explicit turn(response_table& of) : held_(of.lock_), table_(of.table_) {}
        ~turn() {
            if (table_) table_->database.wait_when_busy(std::chrono::milliseconds(0));
        }
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;

    private:
        std::lock_guard<std::mutex> held_;
        std::optional<open_table>& table_;
    };

    /// Null, only for reading: nothing was ever kept in the file. Errors name the file.
    [[nodiscard]] result<open_table*> opened(purpose what, patience wait);
    [[nodiscard]] result<std::optional<open_table>> open(purpose what, patience wait) const;
    [[nodiscard]] error in_file(error failure) const;
    [[nodiscard]] std::int64_t now() const;
    [[nodiscard]] result<std::optional<ports::stored_response>> look_up(std::string_view key,
                                                                        patience wait);
    [[nodiscard]] result<std::optional<ports::stored_response>> find_in(open_table& table,
                                                                        std::string_view key,
                                                                        patience wait);
    [[nodiscard]] result<void> keep_in(open_table& table, std::string_view key,
                                       const ports::stored_response& response,
                                       std::int64_t created);
    [[nodiscard]] static result<void> count_bytes(open_table& table);
    [[nodiscard]] result<void> make_room(open_table& table);

    response_store_options options_;
    std::mutex lock_;
    std::optional<open_table> table_;
    bool lost_file_ = false;
    std::optional<error> trouble_; ///< why the next looks fail at once
    std::chrono::steady_clock::time_point trouble_until_;
};

} // namespace heddle::store
