// What is parked, in the tables of a run.
#pragma once

#include "store/packed_text.hpp"
#include "store/run_file.hpp"
#include "store/sqlite_database.hpp"

#include <heddle/store/run_parking.hpp>

#include <functional>
#include <optional>
#include <string>

namespace heddle::store {

/// Makes the tables where they are absent, which is in a run of an earlier version.
inline constexpr const char* parking_layout = R"(
    CREATE TABLE IF NOT EXISTS parked_calls (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        row INTEGER NOT NULL,
        path BLOB NOT NULL,
        content BLOB NOT NULL,
        service TEXT NOT NULL,
        model TEXT NOT NULL,
        size INTEGER NOT NULL,
        tries INTEGER NOT NULL,
        batch INTEGER NOT NULL, -- 0: in none yet
        requests INTEGER NOT NULL,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        cost REAL NOT NULL,
        unpriced INTEGER NOT NULL,
        estimated INTEGER NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (row, path, content));
    CREATE INDEX IF NOT EXISTS parked_calls_by_batch
        ON parked_calls (batch, service, model, number);
    CREATE TABLE IF NOT EXISTS parked_batches (
        number INTEGER PRIMARY KEY,
        phase INTEGER NOT NULL,
        service TEXT NOT NULL,
        model TEXT NOT NULL,
        mark TEXT NOT NULL,
        id TEXT NOT NULL,
        at INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        answered INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        state TEXT NOT NULL,
        too_large INTEGER NOT NULL);
)";

/// Writes changes inside of transactions of the run. Threads: one at a time.
class parking_table {
public:
    /// Appends a record to those of a row.
    using append_record = std::function<result<void>(std::uint64_t row, ports::step_record)>;

    /// Errors: of the database.
    [[nodiscard]] result<void> write(sqlite_database& database, const parking_change& change,
                                     const append_record& append);

private:
    struct statements {
        sqlite_statement park, intend, assign, note, find, drop, give_back, left, drop_row,
            drop_all;
    };
    [[nodiscard]] result<void> prepare(sqlite_database& database);
    [[nodiscard]] result<void> apply(const call_parked& change);
    [[nodiscard]] result<void> apply(const batch_intended& change);
    [[nodiscard]] result<void> apply(const batch_noted& change);
    [[nodiscard]] result<void> apply(const call_settled& change);
    [[nodiscard]] result<void> apply(const calls_returned& change);
    [[nodiscard]] result<void> apply(const calls_dropped& change);

    std::optional<statements> on_;
    const append_record* append_ = nullptr; ///< of the change that is being written
    text_packer packer_;
    std::string digest_buffers_[2];
};

/// The memory that a change takes, roughly.
[[nodiscard]] std::size_t bytes_of(const parking_change& change) noexcept;

} // namespace heddle::store
