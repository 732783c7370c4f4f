// Results and errors as text.
#pragma once

#include "call_counts.hpp"
#include "exit_code.hpp"

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/map_progress.hpp>
#include <heddle/lang/value.hpp>

#include <string>
#include <string_view>

namespace heddle::cli {

/// A result for people, ending in a line end unless it is empty: a string unchanged, nil as
/// nothing, a list of maps as a table, a map with one line per member, a TaskResult as its content,
/// everything else in its written form. Tables are fitted into `columns` (0: any width).
/// Errors: LimitError if the parts of a list or map exceed 64 MiB together, or the cells of a table
/// four million. A single string is not bounded.
[[nodiscard]] result<std::string> render_result(const lang::value& content, unsigned columns);

/// The written form of a result, ending in a line end.
/// Errors: LimitError when that of a list or map is longer than 64 MiB. A text alone has no bound.
[[nodiscard]] result<std::string> render_written_form(const lang::value& content);

/// The FAILED TaskResult that an error was made of, or null.
[[nodiscard]] const lang::value* failed_result_in(const error& failure) noexcept;
/// The response in such a result, ending in a line end; empty if its content is its message.
[[nodiscard]] std::string said_in_failure(const lang::value& failed);

/// An error as one JSON object in one line: `error` with kind, message, reason, hint, place, trace
/// and the FAILED result from which it was made; `exit_code`; `calls`; `recording`, why the
/// recording is incomplete, unless that is empty. `unwritten`: the result of a run, if the failure
/// is that it has no JSON form; it was paid for, so it is included with the printed forms of the
/// parts without one. docs/reference/cli.md lists the members.
[[nodiscard]] std::string render_error_json(const error& failure, const source_map& sources,
                                            exit_code code, const call_counts& counts,
                                            std::string_view recording = {},
                                            const lang::value* unwritten = nullptr);
/// The model calls of a successful run, as one JSON object in one line: `exit_code` and `calls` as
/// above.
[[nodiscard]] std::string render_counts_json(const call_counts& counts, exit_code code);
/// The progress of a run, as one JSON object in one line: `event`, the elements of its outermost
/// maps (`total`, null without one, `ended`, `failed`), `seconds`, `per_second`, `seconds_left`,
/// and `calls` as above, with those that are `running` and what they wait for.
[[nodiscard]] std::string render_progress_json(const call_counts& counts,
                                               const lang::map_progress* maps, double seconds,
                                               double rate, std::string_view event);

} // namespace heddle::cli
