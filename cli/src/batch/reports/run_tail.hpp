// `heddle runs tail`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <cstdint>
#include <string>

namespace heddle::cli {

struct tail_options {
    std::uint64_t count = 10;
    bool follow = false; ///< also each end of a row from now on, until the run is over
    bool json = false;   ///< an object for each row: row, id, status, and value or error
};

/// The last rows that ended, by number.
[[nodiscard]] exit_code tail_run(const std::string& run, tail_options options, console& output);

} // namespace heddle::cli
