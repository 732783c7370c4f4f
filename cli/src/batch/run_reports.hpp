// What is known of runs, read from their folders.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::cli {

/// `heddle runs list`: a line for each run in or directly below the folders.
[[nodiscard]] exit_code list_runs(const std::vector<std::string>& folders, bool json,
                                  console& output);
/// `heddle runs show`: rows, cost, files, reasons of failures.
[[nodiscard]] exit_code show_run(const std::string& run, bool json, console& output);
/// `heddle runs tail`: the last `count` rows that ended; `follow`: and those that end from now on,
/// until the run is over.
[[nodiscard]] exit_code tail_run(const std::string& run, std::uint64_t count, bool follow,
                                 console& output);

struct export_request {
    std::string run;
    std::string file = "-";
    std::string status = "all"; ///< done, failed, rejected, all
    bool force = false;
    bool json = false;
};
/// `heddle runs export`: results as the journal has them.
[[nodiscard]] exit_code export_run(const export_request& asked, console& output);

} // namespace heddle::cli
