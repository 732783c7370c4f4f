// The table behind a response store: blocking, for a worker thread.
#pragma once

#include "store/sqlite_database.hpp"

#include <heddle/ports/response_store.hpp>
#include <heddle/store/response_store.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::store {

/// Opened by its first use. Threads: any, one at a time (it locks).
class response_table {
public:
    explicit response_table(response_store_options options) : options_(std::move(options)) {}

    [[nodiscard]] result<std::optional<ports::stored_response>> find(std::string_view request);
    [[nodiscard]] result<void> keep(std::string_view request, const ports::stored_response& answer);
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
        std::int64_t bytes = 0; ///< as far as this process knows; counted anew before eviction
    };

    /// Errors name the file.
    [[nodiscard]] result<open_table*> opened();
    [[nodiscard]] result<open_table> open() const;
    [[nodiscard]] error in_file(error failure) const;
    [[nodiscard]] std::int64_t now() const;
    [[nodiscard]] result<std::optional<ports::stored_response>> find_in(open_table& table,
                                                                        std::string_view key);
    [[nodiscard]] result<void> keep_in(open_table& table, std::string_view key,
                                       const ports::stored_response& answer);
    [[nodiscard]] result<void> make_room(open_table& table);

    response_store_options options_;
    std::mutex lock_;
    std::optional<open_table> table_;
};

} // namespace heddle::store
