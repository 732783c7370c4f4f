// What a command that stays for its batches hands from one round of rows to the next.
#pragma once

#include "batch/run_limits.hpp"

#include <heddle/coro/deadline.hpp>

#include <cstdint>
#include <optional>

namespace heddle::cli {

/// With --park-wait rows begin again whenever batches have ended. To its user the command is one
/// process: what was requested of it holds until its end.
struct batch_round {
    run_limits set;                      ///< by 'heddle runs set', since the command began
    std::optional<coro::deadline> until; ///< no row starts later; nothing: --deadline begins now
    std::uint64_t rows_failed = 0;       ///< of earlier rounds
    bool is_paused = false;              ///< by 'heddle runs pause'
};

} // namespace heddle::cli
