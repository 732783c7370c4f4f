// The rows of a run, as reports read them.
#pragma once

#include "batch/steering/opened_run.hpp"
#include "console.hpp"
#include "exit_code.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/run_journal.hpp>
#include <heddle/store/run_store.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::cli {

inline constexpr std::size_t rows_at_once = 500; ///< read from a journal

[[nodiscard]] std::string_view name_of(ports::row_status status) noexcept;
/// What the run has done and spent. If it is not `going`, calls that were under way when a process
/// ended count as paid for, at an estimated cost. Errors: of the journal.
[[nodiscard]] coro::task<result<ports::run_totals>> totals_of(opened_run* run, bool going);
[[nodiscard]] boost::json::object totals_json(const ports::run_totals& totals);

/// Calls `see` for each row of that status, whole, at most `most` of them. Errors: of the journal
/// and of `see`.
[[nodiscard]] coro::task<result<void>> for_each_row(opened_run* run,
                                                    std::optional<ports::row_status> status,
                                                    std::function<result<void>(store::run_row)> see,
                                                    std::uint64_t most);

/// The end of a report: reports its error.
[[nodiscard]] exit_code report_outcome(const result<void>& ended, bool as_json, console& output);

} // namespace heddle::cli
