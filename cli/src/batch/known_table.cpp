#include "batch/known_table.hpp"

#include <algorithm>
#include <utility>

namespace heddle::cli {

known_table::known_table(std::vector<ports::known_row> rows, bool ids_are_given)
    : rows_(std::move(rows)), seen_(rows_.size()), ids_are_given_(ids_are_given) {
    // Far above the positions of the input, which later processes may see grow.
    constexpr std::uint64_t moved_rows = std::uint64_t{1} << 40;
    next_free_ = moved_rows;
    if (!rows_.empty()) next_free_ = std::max(next_free_, rows_.back().row + 1);
}

std::optional<std::size_t> known_table::at_number(std::uint64_t number) const {
    // Numbers without gaps are the rule.
    if (number < rows_.size() && rows_[number].row == number) return number;
    const auto found = std::lower_bound(
        rows_.begin(), rows_.end(), number,
        [](const ports::known_row& row, std::uint64_t wanted) { return row.row < wanted; });
    if (found == rows_.end() || found->row != number) return std::nullopt;
    return static_cast<std::size_t>(found - rows_.begin());
}

std::optional<std::size_t> known_table::find(const rows::row_origin& row) {
    const auto same_place = at_number(row.number);
    if (same_place && rows_[*same_place].id == row.id_digest) return same_place;
    if (rows_.empty()) return std::nullopt;
    if (!indexed_) {
        by_id_.reserve(rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) by_id_.emplace(rows_[i].id, i);
        indexed_ = true;
    }
    const auto found = by_id_.find(row.id_digest);
    if (found == by_id_.end()) return std::nullopt;
    return found->second;
}

known_table::match known_table::look_up(const rows::row_origin& row) {
    match found;
    if (const auto index = find(row)) {
        found.duplicate = seen_[*index];
        seen_[*index] = true;
        if (!found.duplicate) {
            found.known = &rows_[*index];
            found.number = found.known->row;
            return found;
        }
    } else if (ids_are_given_) {
        found.duplicate = !new_ids_.insert(row.id_digest).second;
    }
    // A row that moved keeps the number that it has in the run, which may be this one's place.
    found.number = at_number(row.number) ? next_free_++ : row.number;
    return found;
}

} // namespace heddle::cli
