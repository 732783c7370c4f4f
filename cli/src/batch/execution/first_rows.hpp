// Whether any of the first rows of a batch can run.
#pragma once

#include "batch/rows/needed_columns.hpp"

#include <heddle/rows/row.hpp>

#include <cstdint>
#include <optional>

namespace heddle::cli {

/// Finds a wrong name, or a file of another kind, before it has rejected every row of the input.
class first_rows {
public:
    /// So many rejected rows, and no other one, are not mistakes of single rows.
    static constexpr std::uint64_t enough = 100;

    /// `needed` outlives the object.
    explicit first_rows(const needed_columns& needed) : needed_(needed) {}

    /// A row of an earlier process has run.
    void accept() noexcept { accepted_ = true; }
    /// An earlier process has rejected the row, and this one does not look at it again: it counts,
    /// so that a repeated command stops where the first one did, but is not a reason to stop, since
    /// rows behind it may have run.
    void count_rejected(const rows::row_item& item, const std::optional<error>& problem) {
        (void)rejects(item, problem);
    }
    /// `problem`: the row is rejected for it. Result: why none of the rows so far can run, once
    /// they are enough. The row is to be left then, not rejected.
    [[nodiscard]] std::optional<error> look(const rows::row_item& item,
                                            const std::optional<error>& problem);

private:
    /// Whether the row and all before it are rejected.
    [[nodiscard]] bool rejects(const rows::row_item& item, const std::optional<error>& problem);

    const needed_columns& needed_;
    std::optional<error> first_; ///< the problem of the first row
    std::uint64_t rejected_ = 0;
    bool accepted_ = false;
};

} // namespace heddle::cli
