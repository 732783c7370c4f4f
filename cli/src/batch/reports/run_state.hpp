// Whether a run goes on, and how it has ended.
#pragma once

#include "batch/steering/opened_run.hpp"

#include <heddle/ports/run_journal.hpp>

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace heddle::cli {

struct run_state {
    /// "going", "done", "waiting", "interrupted", "stopped", "failed" (of a single run), "killed";
    /// empty: unknown, since an earlier version of heddle has not noted it.
    std::string name;
    std::string stopped_by;             ///< as in the summary of the batch; empty: nothing
    std::optional<std::uint64_t> total; ///< rows
    std::optional<std::uint64_t> left;  ///< rows that have not ended
    bool left_is_estimate = false;

    /// "stopped (budget), 47 left".
    [[nodiscard]] std::string text() const;
    /// Adds `state`, `stopped_by`, `total`, `left` and `left_is_estimate`.
    void add_to(boost::json::object& members) const;
};

/// `going`: a process works on the run.
[[nodiscard]] run_state state_of(const opened_run& run, const ports::run_totals& totals,
                                 bool going);

} // namespace heddle::cli
