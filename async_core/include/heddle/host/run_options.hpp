// Bounds of one evaluation.
#pragma once

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/deadline.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace heddle::host {

class step_log;

/// Observes the progress of a run.
class slice_observer {
public:
    virtual ~slice_observer() = default;
    /// Called between slices. `steps`: steps of the run so far. May request cancellation.
    virtual void after_slice(std::uint64_t steps) noexcept = 0;
};

struct run_options {
    coro::cancel_source* cancel = nullptr;        ///< outlives the run; null: cannot be cancelled
    coro::deadline until;                         ///< deadline of the run
    std::size_t concurrency = 64;                 ///< branches at once (docs/spec/language.md §7)
    std::size_t memory_limit = 256 * 1024 * 1024; ///< bytes beyond what the session already holds
    std::uint64_t step_limit = UINT64_MAX;        ///< calls, back-edges, work of builtins
    std::uint32_t slice = 2000; ///< steps between checks of clock and cancellation
    /// 0: branches that are ready run first come, first served. Otherwise this seed determines
    /// their order, and where a computing branch yields to others. The same seed produces the same
    /// order, provided that effects complete in the same order (docs/reference/determinism.md).
    std::uint64_t schedule_seed = 0;
    /// Seed of what the run draws by chance (`random`, `uuid`, the waits of `retry`). Draws depend
    /// on it and on the place in the program, and inside of tools on how many calls of tools began
    /// before. With `steps`, the seed of that log counts; without either, the engine's generator.
    std::optional<std::uint64_t> random_seed;
    slice_observer* observer = nullptr; ///< outlives the run; null: none
    /// Where the steps of the run are recorded and replayed from; outlives the run; null: not at
    /// all (docs/adr/0017-durable-rows-are-monitors.md).
    step_log* steps = nullptr;
};

} // namespace heddle::host
