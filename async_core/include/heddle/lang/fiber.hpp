// The state of one strand of execution.
#pragma once

#include <heddle/lang/code.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace heddle::lang {

class fiber;
class join;
class concurrency_scope;

/// Where a call stands. 24 bytes; registers live apart, in the value stack.
struct frame {
    const instruction* at; ///< the next instruction
    const function* code;
    std::uint32_t base;    ///< first register; the closure itself lies at base - 1
    std::uint32_t tail_calls = 0; ///< frames that this one replaced, for traces
};

/// A permit to run a branch, and the scope it belongs to.
struct permit {
    concurrency_scope* scope = nullptr; ///< null: not a bounded branch
    bool held = false;
};

/// A branch that runs on its parent's stack, until it has to wait (lazy task creation: Mohr, Kranz,
/// Halstead 1991). The frames above `first_frame` become a fiber of their own then.
struct inline_branch {
    std::size_t first_frame;
    value group; ///< the join, kept alive
    std::uint32_t slot;
    permit right;
    value settings; ///< as they were when the branch began
};

/// A request to the host.
struct effect_request {
    const builtin* row = nullptr;  ///< the effect primitive, or null for a call of `callee`
    value callee;                  ///< task or tool, when row is null
    std::vector<value> arguments;
    value names;                   ///< list of clause names parallel to arguments, or nil: by position
    source_span span;
};

/// What a fiber waits for.
enum class waiting_for : std::uint8_t { nothing, effect, children, permit };

/// Called by the machine when something happens to a fiber that its driver must know.
/// Must not run the fiber from inside.
class fiber_driver {
public:
    virtual ~fiber_driver() = default;
    /// A parked fiber may be run again.
    virtual void wake(fiber& ready) noexcept = 0;
    /// Cancellation was asked for while the fiber waits for an effect: end that effect.
    virtual void cancel_effect(fiber& waiting) noexcept = 0;
};

/// Frames, registers, dynamic settings and cancellation of one strand. Made by start_fiber or by the
/// machine; driven by the host. About a kilobyte with its frames. Threads: the session's only.
class fiber {
public:
    explicit fiber(realm& world);
    ~fiber();
    fiber(const fiber&) = delete;
    fiber& operator=(const fiber&) = delete;

    [[nodiscard]] realm& world() noexcept { return *world_; }
    [[nodiscard]] bool cancel_requested() const noexcept { return cancel_ != cancel_reason::none; }
    [[nodiscard]] cancel_reason cancelled_because() const noexcept { return cancel_; }
    /// Cleanup code runs: cancellation waits until it has ended.
    [[nodiscard]] bool cancellation_masked() const noexcept { return masked_ != 0; }
    [[nodiscard]] waiting_for waits() const noexcept { return waits_; }
    [[nodiscard]] const value& settings() const noexcept { return settings_; }
    [[nodiscard]] effect_request& request() noexcept { return *request_; }
    [[nodiscard]] std::size_t depth() const noexcept { return frames_.size(); }

    fiber_driver* driver = nullptr; ///< set by the host before the first run
    void* driver_data = nullptr;    ///< the host's own

    /// Asks the fiber and all branches below it to end. Ends nothing by itself: run it to its end.
    void request_cancel(cancel_reason reason) noexcept;

private:
    friend class machine;
    friend class join;
    friend class concurrency_scope;
    friend struct fiber_access;

    void reserve(std::size_t registers); ///< room for that many values in the stack

    realm* world_;
    value* stack_ = nullptr;
    std::size_t capacity_ = 0;
    std::vector<frame> frames_;
    std::vector<inline_branch> branches_;
    value settings_ = value::empty_map();
    std::unique_ptr<effect_request> request_;
    std::uint32_t result_slot_ = 0; ///< stack index where the answer of an effect goes
    waiting_for waits_ = waiting_for::nothing;
    cancel_reason cancel_ = cancel_reason::none;
    std::uint16_t masked_ = 0;
    std::uint32_t slot_ = 0; ///< of group_
    value group_;            ///< the join this fiber is a branch of, or nil
    permit right_;
    concurrency_scope* granted_ = nullptr; ///< a permit that was handed over while waiting
    value waits_on_;                       ///< keeps the join or scope alive
};

} // namespace heddle::lang
