// Bounds of one evaluation.
#pragma once

#include <heddle/coro/cancel.hpp>
#include <heddle/coro/deadline.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::host {

struct run_options {
    coro::cancel_source* cancel = nullptr;        ///< outlives the run; null: cannot be cancelled
    coro::deadline until;                         ///< the whole run
    std::size_t concurrency = 64;                 ///< branches at a time (language.md 7)
    std::size_t memory_limit = 256 * 1024 * 1024; ///< bytes beyond what the session already holds
    std::uint64_t step_limit = UINT64_MAX;        ///< calls and back-edges
    std::uint32_t slice = 2000;                   ///< steps between looks at clock and cancellation
};

} // namespace heddle::host
