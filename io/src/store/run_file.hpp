// The database of a run.
#pragma once

#include "store/sqlite_database.hpp"

#include <heddle/base/error.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>
#include <string>

namespace heddle::store {

[[nodiscard]] std::string file_of_run(const std::string& folder);

/// The failure with the name of the file, and what to do about a journal.
[[nodiscard]] error in_run(const std::string& folder, error failure);

/// Opens the database for writing, after it was made if the options allow that. The run's lock is
/// held. Errors: as open_run_store.
[[nodiscard]] result<sqlite_database> open_to_write(const run_store_options& options);
/// A connection that reads what other connections have committed. Errors: as open_run_store.
[[nodiscard]] result<sqlite_database> open_to_read(const std::string& folder);

/// What is kept beside the tables: sums, and how much of the output is done.
struct run_sums {
    ports::run_totals totals;
    std::uint64_t emitted_size = 0;
    output_phase phase = output_phase::in_place;
    std::uint64_t ended = 0; ///< number of the last end of a row
};
[[nodiscard]] result<run_sums> load_sums(sqlite_database& database);

/// Whether the ends of rows have numbers: not in journals of older versions that nobody has opened
/// for writing since.
[[nodiscard]] result<bool> has_numbered_ends(sqlite_database& database);

void bind_digest(sqlite_statement& statement, const ports::digest128& digest, std::string& buffer);
[[nodiscard]] ports::digest128 digest_in(std::string_view bytes) noexcept;
void bind_spending(sqlite_statement& statement, const ports::step_spending& spent);
/// From six columns, beginning with `column`.
[[nodiscard]] ports::step_spending spending_in(const sqlite_statement& statement, int column);

} // namespace heddle::store
