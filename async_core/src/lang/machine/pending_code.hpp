// Code that a fiber waits for.
#pragma once

#include "code_job.hpp"

namespace heddle::lang {

struct pending_code {
    /// What becomes of the result, at its place in the stack.
    enum class next_step : std::uint8_t { keep, call, tail_call };

    pending_code(realm& world, code_order order, next_step then)
        : job(world, std::move(order)), then(then) {}

    code_job job;
    next_step then;
};

} // namespace heddle::lang
