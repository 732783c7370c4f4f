#include "batch/rows/known_table.hpp"

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

/// Of rows with one id, the row of the run is the one that has come farthest.
int rank_of(ports::row_status status) noexcept {
    if (status == ports::row_status::done) return 2;
    return status == ports::row_status::rejected ? 0 : 1;
}

} // namespace

known_table::known_table(std::vector<ports::known_row> rows, bool ids_are_given)
    : rows_(std::move(rows)), seen_(rows_.size()), ids_are_given_(ids_are_given) {
    if (!rows_.empty()) first_new_ = rows_.back().row + 1;
    next_free_ = first_new_;
}

std::uint64_t known_table::new_number(std::uint64_t position) {
    // Below the numbers of this process, the positions that no row of the run has are free.
    const bool is_free =
        position < first_new_ ? !at_number(position).has_value() : position >= next_free_;
    if (!is_free) return next_free_++;
    next_free_ = std::max(next_free_, position + 1);
    return position;
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

void known_table::make_index() {
    if (indexed_) return;
    indexed_ = true;
    by_id_.reserve(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const ports::row_status status = rows_[i].status;
        if (status == ports::row_status::rejected) rejected_[rows_[i].content].push_back(i);
        const auto [found, is_new] = by_id_.emplace(rows_[i].id, i);
        if (is_new) continue;
        // A second row of the id was rejected, but it may come first in another order.
        std::size_t other = i;
        if (rank_of(status) > rank_of(rows_[found->second].status)) std::swap(found->second, other);
        further_[rows_[i].id].push_back(other);
    }
}

std::optional<std::size_t> known_table::rejected_at(std::optional<std::size_t> place) const {
    if (!place || seen_[*place] || rows_[*place].status != ports::row_status::rejected)
        return std::nullopt;
    return place;
}

std::optional<std::size_t> known_table::find_first(const rows::row_origin& row) {
    const auto same_place = at_number(row.number);
    if (same_place && !seen_[*same_place] && rows_[*same_place].id == row.id_digest &&
        rows_[*same_place].status != ports::row_status::rejected) {
        return same_place;
    }
    if (rows_.empty()) return std::nullopt;
    make_index();
    if (const auto found = by_id_.find(row.id_digest); found != by_id_.end()) {
        if (!seen_[found->second]) return found->second;
    }
    if (const auto found = rejected_.find(row.content); found != rejected_.end()) {
        for (const std::size_t index : found->second)
            if (!seen_[index]) return index;
    }
    return rejected_at(same_place);
}

std::optional<std::size_t> known_table::find_duplicate(const rows::row_origin& row) {
    if (rows_.empty()) return std::nullopt;
    const auto same_place = at_number(row.number);
    if (same_place && !seen_[*same_place] && rows_[*same_place].id == row.id_digest)
        return same_place;
    make_index();
    if (const auto found = further_.find(row.id_digest); found != further_.end()) {
        for (const std::size_t index : found->second)
            if (!seen_[index]) return index;
    }
    return rejected_at(same_place);
}

std::uint64_t known_table::unseen_ends() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const bool has_ended = rows_[i].status != ports::row_status::begun;
        if (has_ended && !rows_[i].outdated && !seen_[i]) ++count;
    }
    return count;
}

known_table::match known_table::look_up(const rows::row_origin& row) {
    match found;
    found.duplicate = ids_are_given_ && !ids_.insert(row.id_digest).second;
    if (const auto index = found.duplicate ? find_duplicate(row) : find_first(row)) {
        seen_[*index] = true;
        found.known = &rows_[*index];
        found.number = found.known->row;
        return found;
    }
    // A row that moved keeps the number that it has in the run, which may be this one's place.
    found.number = new_number(row.number);
    return found;
}

} // namespace heddle::cli
