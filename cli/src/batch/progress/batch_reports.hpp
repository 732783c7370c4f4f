// What `heddle batch` prints about its beginning and its end.
#pragma once

#include "batch/progress/batch_counts.hpp"
#include "batch/progress/batch_summary.hpp"
#include "batch/progress/failure_table.hpp"
#include "batch/request/batch_request.hpp"
#include "console.hpp"
#include "exit_code.hpp"

#include <heddle/base/error.hpp>

#include <cstdint>
#include <string>

namespace heddle::cli {

/// Prints for people, or as JSON where that was asked for. Threads: the loop's, or after its end.
class batch_reports {
public:
    /// Why no row has started.
    struct early_end {
        error why;
        std::string rendered; ///< of an error in the program; empty: it is another one
        early_stop cause = early_stop::error;
    };

    /// Both outlive the object.
    batch_reports(const batch_request& asked, console& output) : asked_(asked), output_(output) {}

    /// The rows begin. Nothing is printed about a new run.
    void report_begin(const batch_counts& counts);
    /// Ctrl-C: no further row starts.
    void report_interruption(std::uint64_t rows_in_progress);
    [[nodiscard]] exit_code report_early_end(const early_end& end);
    [[nodiscard]] exit_code report_end(const batch_summary& end, const failure_table& failures);

private:
    const batch_request& asked_;
    console& output_;
};

} // namespace heddle::cli
