// What had arrived for a row when its last process ended.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace heddle::host {

/// Of the records of a row, the last ones of what had arrived and may have waited for its turn, or
/// have had it between slices: the record of that may be lost with the process. Nothing that is
/// recorded follows from them.
class last_arrivals {
public:
    /// The next record. True: it only notes an arrival.
    [[nodiscard]] bool read(const ports::step_record& record);
    /// How many slices had ended when it arrived. Nothing: it is none of them.
    [[nodiscard]] std::optional<std::uint64_t> slices_before(const ports::digest128& path) const;

private:
    void add(const ports::digest128& path, std::uint64_t slices);
    void had_their_turns(const ports::digest128& last);
    void forget() noexcept;

    std::deque<ports::digest128> in_order_;
    std::map<ports::digest128, std::uint64_t> slices_;
};

} // namespace heddle::host
