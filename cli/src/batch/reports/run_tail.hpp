// `heddle runs tail`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <cstdint>
#include <string>

namespace heddle::cli {

/// The last `count` rows that ended, by number; `follow`: and each end of a row from now on,
/// until the run is over.
[[nodiscard]] exit_code tail_run(const std::string& run, std::uint64_t count, bool follow,
                                 console& output);

} // namespace heddle::cli
