// `heddle runs diff`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <cstdint>
#include <string>

namespace heddle::cli {

struct diff_request {
    std::string a; ///< a run: its folder, or its output file
    std::string b;
    std::uint64_t most = 50; ///< rows to print
    bool json = false;
    bool steps = false; ///< also of rows with the same result
};

/// Prints the rows, matched by their ids, whose status or value differs, or with `steps` any of
/// their steps, and counts. Result: exit_code::failed when there are such rows, as diff has it.
[[nodiscard]] exit_code diff_runs(const diff_request& asked, console& output);

} // namespace heddle::cli
