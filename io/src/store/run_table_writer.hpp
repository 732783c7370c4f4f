// Changes of a run, made in its tables.
#pragma once

#include "store/packed_text.hpp"
#include "store/parking_table.hpp"
#include "store/run_file.hpp"
#include "store/run_queue.hpp"

#include <string>
#include <unordered_map>

namespace heddle::store {

/// Writes changes inside of transactions. Threads: one at a time.
class run_table_writer {
public:
    [[nodiscard]] static result<run_table_writer> open(const run_store_options& options);

    /// Begins a transaction. Errors of this and what follows: io_error that names the file; the
    /// caller rolls back.
    [[nodiscard]] result<void> begin();
    [[nodiscard]] result<void> write(const write_change& change);
    /// As of the last write, also when it was not committed.
    [[nodiscard]] const run_sums& sums() const noexcept { return sums_; }
    [[nodiscard]] result<void> commit();
    void roll_back() noexcept;

private:
    struct statements {
        sqlite_statement status, begin_row, text, restart, drop, next, append, end_row, end, emit,
            sum, source, discard, to_due, to_spares, to_past, use, body_of, time, work, keep_work,
            new_clock;
    };
    run_table_writer(std::string folder, sqlite_database database, statements prepared,
                     run_sums sums)
        : folder_(std::move(folder)), database_(std::move(database)), on_(std::move(prepared)),
          sums_(sums) {}

    [[nodiscard]] result<void> apply(const nothing_written&) { return {}; }
    [[nodiscard]] result<void> apply(const row_begun& change);
    [[nodiscard]] result<void> apply(const row_restarted& change);
    [[nodiscard]] result<void> restart(std::uint64_t row);
    [[nodiscard]] result<void> apply(const row_retried& change);
    [[nodiscard]] result<void> apply(const step_appended& change);
    [[nodiscard]] result<void> apply(const ports::row_end& change);
    [[nodiscard]] result<void> apply(const rows_emitted& change);
    [[nodiscard]] result<void> apply(const manifest_set& change);
    [[nodiscard]] result<void> apply(const contents_indexed& change);
    [[nodiscard]] result<void> apply(const row_revised& change);
    [[nodiscard]] result<void> apply(const rows_outdated& change);
    [[nodiscard]] result<void> apply(const row_timed& change);
    [[nodiscard]] result<void> apply(const rows_forgotten& change);
    [[nodiscard]] result<void> apply(const spare_used& change);
    [[nodiscard]] result<void> apply(const phase_set& change);
    [[nodiscard]] result<void> apply(const parking_change& change);
    [[nodiscard]] result<void> apply(const work_noted& change);

    /// Sets the status of a row, and counts it. Its digests become those of `known`, unless it is a
    /// row already and these are zero.
    [[nodiscard]] result<void> set_status(std::uint64_t row, ports::row_status status,
                                          const ports::known_row& known);
    /// A row that has ended goes on: drops its end, and keeps what the row has taken.
    [[nodiscard]] result<void> drop_end(std::uint64_t row);
    [[nodiscard]] std::uint64_t* count_of(ports::row_status status) noexcept;
    [[nodiscard]] result<std::int64_t> next_of(std::uint64_t row);
    [[nodiscard]] result<void> write_sums();
    [[nodiscard]] result<void> set_sum(std::string_view name, std::int64_t number);

    std::string folder_;
    sqlite_database database_;
    statements on_;
    run_sums sums_;
    std::unordered_map<std::uint64_t, std::int64_t> next_; ///< record of rows that go on
    text_packer packer_;
    parking_table parking_;
    std::string digest_buffers_[3];
};

} // namespace heddle::store
