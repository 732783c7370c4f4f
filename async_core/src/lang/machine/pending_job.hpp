// What a fiber waits for that takes the processor.
#pragma once

#include "native_stack.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace heddle::lang {

/// A computation that takes turns with the loop. A turn ends after a fixed amount of work: what a
/// program does is the same each time.
class turn_job {
public:
    virtual ~turn_job() = default;

    /// A turn.
    [[nodiscard]] virtual native_stack::progress resume() = 0;
    /// The work since the last call, in steps.
    [[nodiscard]] virtual std::uint64_t take_spent() noexcept = 0;
    /// Where in a program's text it is, for the error of a limit; perhaps unknown.
    [[nodiscard]] virtual source_span place() const noexcept { return {}; }
    /// Once, when it has ended.
    [[nodiscard]] virtual result<value> take() = 0;
};

struct pending_job {
    /// What becomes of the result: it goes to its place in the stack, and
    enum class next_step : std::uint8_t {
        keep,
        call,      ///< it is called
        tail_call, ///< it is called in place of the frame
        begin,     ///< it is the program of the fiber, which has no frames yet: it is called
        jump,      ///< or, in place of that, it decides a jump
        apply,     ///< what is below it is called with its elements
        tail_apply ///< the same in place of the frame
    };

    std::unique_ptr<turn_job> job;
    next_step then = next_step::keep;
    bool knows_place = true;   ///< its errors may say where they are
    bool jump_when = false;    ///< for jump: the truth that jumps
    std::int32_t distance = 0; ///< so far
};

} // namespace heddle::lang
