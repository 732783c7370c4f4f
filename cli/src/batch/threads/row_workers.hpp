// The threads that execute the rows of a batch.
#pragma once

#include "batch/threads/row_worker.hpp"
#include "batch/threads/shared_counts.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::cli {

/// Each row is executed on the thread that has the fewest of them. What a run has once stays on its
/// loop: limits, budget, journal, input and output. Threads: that of the run.
/// Source: docs/adr/0021-rows-of-a-batch-run-on-several-threads.md.
class row_workers {
public:
    /// As row_worker::parts.
    struct parts {
        application& home;
        const workflow_options& options;
        const setup::environment& variables;
        const batch_program& program;
        const row_binding& binding;
        const row_sessions& loaded;
    };
    /// Starts `count` threads, which load the program side by side. `rendered`: takes the error of
    /// a program as people read it; outlives the call. Errors: as row_worker::start and load.
    [[nodiscard]] static coro::task<result<std::unique_ptr<row_workers>>> start(
        parts of, std::size_t count, coro::call_context context, std::string* rendered);

    /// As row_worker::attempt.
    [[nodiscard]] coro::task<result<row_outcome>> attempt(rows::row row, std::uint64_t seed,
                                                          std::shared_ptr<setup::row_log> steps,
                                                          coro::deadline until,
                                                          coro::call_context context);
    /// Of the calls of all threads.
    [[nodiscard]] call_counts counts() const { return counts_.read(); }
    /// As row_worker::close.
    [[nodiscard]] coro::task<void> close();

private:
    row_workers() = default;
    [[nodiscard]] coro::task<result<void>> load(coro::call_context context);

    shared_counts counts_;
    std::vector<std::unique_ptr<row_worker>> workers_;
};

} // namespace heddle::cli
