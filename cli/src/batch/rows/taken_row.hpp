// The rows of the input that are a part of the run, for a look at all of them.
#pragma once

#include "batch/rows/row_filter.hpp"

#include <heddle/rows/row_reader.hpp>

#include <optional>

namespace heddle::cli {

/// A row that is a part of the run.
struct taken_row {
    rows::row_item item;
    std::optional<error> problem; ///< of the filter: the row is to be rejected
};

/// The next such row; nothing at the end of the input, or once the filter takes no more.
/// `filter`: null takes all rows. Both outlive the call. Reads block.
/// Errors: of the input; cancelled.
[[nodiscard]] coro::task<result<std::optional<taken_row>>> next_taken(rows::row_reader* reader,
                                                                      row_filter* filter,
                                                                      coro::call_context context);

} // namespace heddle::cli
