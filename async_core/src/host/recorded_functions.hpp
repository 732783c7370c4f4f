// Where functions of the program ran inside of the steps of a row.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstddef>
#include <map>
#include <vector>

namespace heddle::host {

/// Finds, among the records of a row, the beginnings of functions of the program by the step that
/// they were parts of.
class recorded_functions {
public:
    /// `at`: the place of the record. Records of other kinds are left out.
    void add(const ports::step_record& record, std::size_t at);
    void clear() noexcept;

    /// The places of the beginnings inside of the step, ascending.
    [[nodiscard]] std::vector<std::size_t> of(const ports::digest128& step) const;
    [[nodiscard]] bool any(const ports::digest128& step) const;
    /// Journals up to layout 4 number the functions of a step in the order in which they began,
    /// also those of parts that ran side by side, and do not name the step.
    [[nodiscard]] bool are_numbered(const ports::digest128& step) const;

private:
    std::multimap<ports::digest128, std::size_t> by_step_;
    std::map<ports::digest128, std::size_t> by_path_; ///< of those that name no step
};

} // namespace heddle::host
