// Functions of the program that began, for a further attempt at a row.
#pragma once

#include "recorded_functions.hpp"

#include <heddle/ports/run_journal.hpp>

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

namespace heddle::host {

/// The functions of the program that ran inside of the steps of a row. The records outlive it, and
/// do not change meanwhile.
class begun_functions {
public:
    explicit begun_functions(const std::vector<ports::step_record>& all);

    /// The places of their beginnings, ascending, those of functions that were cancelled before
    /// they began included.
    [[nodiscard]] std::vector<std::size_t> of(const ports::digest128& step) const {
        return functions_.of(step);
    }
    /// One of the step began after the record `at`.
    [[nodiscard]] bool ran_since(const ports::digest128& step, std::size_t at) const;
    /// The beginning of the function that the time of a task cut just before `end`, a failure of a
    /// part or the end of a step. Nothing: there is none.
    [[nodiscard]] std::optional<std::size_t> cut_before(std::size_t end) const;

private:
    [[nodiscard]] std::vector<std::size_t> of_what_ended(const ports::step_record& ended) const;

    const std::vector<ports::step_record>& all_;
    recorded_functions functions_;
    std::set<ports::digest128> not_begun_;
};

} // namespace heddle::host
