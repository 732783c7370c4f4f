// What waits to be written to a run, and who waits for it.
#pragma once

#include <heddle/coro/wait_point.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/store/run_parking.hpp>
#include <heddle/store/run_store.hpp>

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heddle::store {

/// A call that waits for a write. Made and awaited on its loop; `outcome` is set by the writer
/// before it posts the end to that loop.
struct write_waiter {
    explicit write_waiter(coro::event_loop& loop)
        : home(boost::asio::prefer(loop.get_executor(),
                                   boost::asio::execution::outstanding_work.tracked)) {}
    coro::wait_point finished;
    std::optional<error> failure;
    /// Tracked: the loop does not run out of work while the write is on its way.
    decltype(boost::asio::prefer(std::declval<coro::executor>(),
                                 boost::asio::execution::outstanding_work.tracked)) home;
};

struct row_begun {
    ports::known_row row;
    std::string id;
    std::string text;
};
struct row_restarted {
    std::uint64_t row = 0;
};
struct row_retried {
    std::uint64_t row = 0;
};
struct row_revised {
    std::uint64_t row = 0;
    std::vector<std::uint64_t> discarded;
};
struct rows_outdated {
    ports::outdated_rows which = ports::outdated_rows::all;
};
struct row_timed {
    std::uint64_t row = 0;
    std::int64_t at = 0;
};
struct rows_forgotten {
    std::vector<std::uint64_t> rows;
};
struct spare_used {
    std::uint64_t row = 0;
    ports::spare_use use;
};
struct phase_set {
    output_phase phase = output_phase::in_place;
};
struct step_appended {
    std::uint64_t row = 0;
    ports::step_record record;
};
struct work_noted {
    std::uint64_t row = 0;
    ports::row_work sum;
};
struct rows_emitted {
    std::vector<std::uint64_t> rows;
    std::uint64_t size = 0;
    bool alone = false; ///< no others are
};
struct manifest_set {
    std::vector<manifest_entry> entries;
};
struct contents_indexed {};
struct nothing_written {}; ///< for who waits for all that comes before

using write_change =
    std::variant<nothing_written, row_begun, row_restarted, row_retried, step_appended,
                 ports::row_end, rows_emitted, manifest_set, contents_indexed, row_revised,
                 rows_outdated, row_timed, rows_forgotten, spare_used, phase_set, parking_change,
                 work_noted>;

struct queued_write {
    write_change change;
    std::size_t bytes = 0;
    std::shared_ptr<write_waiter> waiter; ///< null: nobody waits
};

/// The memory that a change takes, roughly.
[[nodiscard]] std::size_t bytes_of(const write_change& change) noexcept;

} // namespace heddle::store
