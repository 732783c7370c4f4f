// Results of earlier processes whose rows the input of this one has not had.
#pragma once

#include "batch/results/result_emitter.hpp"
#include "batch/rows/known_table.hpp"

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/store/run_store.hpp>

#include <cstdint>

namespace heddle::cli {

/// All of it outlives the call.
struct unseen_results {
    store::run_store& journal;
    const known_table& known;
    result_emitter& emitter;
    std::uint64_t position = 0; ///< the next one in the order of results
    bool complete = false;      ///< no row of the input is left, otherwise only done rows are taken
};

/// Hands the emitter what these rows ended with under the program as it is now, if it is not in the
/// output: it was paid for. The
/// letter of such a row names no place in a file. Ends early when the output has failed. Errors: as
/// run_store.
[[nodiscard]] coro::task<result<void>> emit_unseen(unseen_results from, coro::call_context context);

} // namespace heddle::cli
