// The state of one strand of execution.
#pragma once

#include <heddle/lang/code.hpp>
#include <heddle/lang/frame_stack.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heddle::lang {

class fiber;
class join;
class concurrency_scope;

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

/// A cleanup under way: cancellation waits until it has ended.
struct cleanup_mark {
    std::uint32_t depth;  ///< number of frames when it began
    std::uint32_t target; ///< where its code begins
};

/// A request to the host.
struct effect_request {
    const builtin* row = nullptr; ///< the effect primitive, or null for a call of `callee`
    value callee;                 ///< task or tool, when row is null
    std::vector<value> arguments;
    value names; ///< list of clause names parallel to arguments, or nil: by position
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
    [[nodiscard]] bool cancellation_masked() const noexcept { return !cleanups_.empty(); }
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
    friend class interpreter;
    friend std::unique_ptr<fiber> start_fiber(realm&, value, std::span<const value>, value);

    void reserve(std::size_t registers);  ///< room for that many values in the stack
    void relocate(std::size_t registers); ///< as reserve, but always in other memory
    void move_away(); ///< stack and frames in other memory, with no room to spare; see realm

    realm* world_;
    value* stack_ = nullptr;
    std::size_t capacity_ = 0;
    frame_stack frames_;
    std::vector<inline_branch> branches_;
    value settings_ = value::empty_map();
    std::unique_ptr<effect_request> request_;
    std::int32_t first_call_ =
        -1; ///< arguments of the call at stack 0 that starts the fiber, or -1
    std::uint32_t result_slot_ = 0; ///< stack index where the answer of an effect goes
    waiting_for waits_ = waiting_for::nothing;
    cancel_reason cancel_ = cancel_reason::none;
    std::vector<cleanup_mark> cleanups_; ///< that run because of an error or cancellation
    std::optional<error> incoming_;      ///< the failure of the effect that was waited for
    std::size_t charged_frames_ = 0;
    std::uint32_t child_index_ = 0; ///< in the join's list of children
    std::uint32_t slot_ = 0;        ///< of group_
    value group_;                   ///< the join this fiber is a branch of, or nil
    permit right_;
    concurrency_scope* granted_ = nullptr; ///< a permit that was handed over while waiting
    value waits_on_;                       ///< the join whose children are waited for
    concurrency_scope* waits_scope_ =
        nullptr; ///< whose permit is waited for; its join keeps it alive
};

} // namespace heddle::lang
