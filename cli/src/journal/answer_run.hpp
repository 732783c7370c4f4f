// `heddle runs answer`.
#pragma once

#include "console.hpp"
#include "exit_code.hpp"

#include <cstdint>
#include <string>

namespace heddle::cli {

struct answer_request {
    std::string run; ///< its folder, or its output file
    std::string row; ///< id or number
    std::string text;
    std::uint64_t question = 1; ///< of several of the row, which
    bool json = false;
};

/// Keeps the answer to a question of a row in the journal, for the next process of the batch.
[[nodiscard]] exit_code answer_run(const answer_request& asked, console& output);

} // namespace heddle::cli
