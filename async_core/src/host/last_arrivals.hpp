// What had arrived for a row when its last process ended.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <set>

namespace heddle::host {

/// Of the records of a row, what had arrived while branches could run and has no record of a turn
/// between slices: the last ones of these may have had one, whose record is lost with the process.
class last_arrivals {
public:
    /// The next record of the row.
    void read(const ports::step_record& record);
    [[nodiscard]] bool contains(const ports::digest128& path) const {
        return paths_.contains(path);
    }
    /// So many slices had ended when the last record was made that has their number. What waited
    /// then had its turn later: a record of it would come first.
    [[nodiscard]] std::uint64_t slices_without_a_turn() const noexcept { return slices_; }

private:
    std::set<ports::digest128> paths_;
    std::uint64_t slices_ = 0;
};

} // namespace heddle::host
