// The state of one fiber.
#pragma once

#include <heddle/lang/code.hpp>
#include <heddle/lang/dynamic_scope.hpp>
#include <heddle/lang/frame_stack.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/reader.hpp>
#include <heddle/lang/realm.hpp>

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace heddle::lang {

class fiber;
class join;
struct map_progress;
struct pending_job;
struct branch_place;

/// A permit to run a branch, and the scope it belongs to.
struct permit {
    concurrency_scope* scope = nullptr; ///< null: not a bounded branch
    bool held = false;
};

/// A branch that runs on its parent's stack, until it has to wait (lazy task creation: Mohr, Kranz,
/// Halstead 1991). Then the frames above `first_frame` become a fiber of their own.
struct inline_branch {
    std::size_t first_frame;
    value group; ///< the join, kept alive
    std::uint32_t slot;
    lang::permit permit;
    scope_ref scope; ///< as it was when the branch began
    value future;    ///< of a spawned branch: is notified of its end in place of the join; else nil
    std::uint32_t next_ordinal = 0; ///< of its groups and effects, see effect_request::ordinal
};

/// Bounds of cleanup code.
struct cleanup_limits {
    static constexpr double never = std::numeric_limits<double>::infinity();
    bool forced = false;  ///< it was started by a cancellation or by an extent that has ended
    value extent;         ///< the one that has ended or, if not forced, that of `until`; or nil
    double until = never; ///< the deadline that it delays once it has passed
    double end = never;   ///< when it must be over, once it delays something
    double waits = never; ///< until when it may wait for the outside, in any case
};

/// A cleanup under way: cancellation waits until it has ended.
struct cleanup_mark {
    std::uint32_t depth;  ///< number of frames when it began
    std::uint32_t target; ///< where its code begins
    scope_ref scope;      ///< as before; inside the cleanup it lacks the deadline
    cleanup_limits limits;
    std::size_t memory; ///< in use when the outermost one began
    value passing = {}; ///< forced: the error that goes on when it has ended, in a caught_error
};

/// A request to the host.
struct effect_request {
    const builtin* row = nullptr; ///< the effect builtin, or null for a call of `callee`
    value callee;                 ///< task or tool, when row is null
    std::vector<value> arguments;
    value names; ///< list of clause names parallel to arguments, or nil: by position
    source_span span;
    /// Which of the steps of its branch it is: the effects that the branch asks for and the groups
    /// that it opens are counted together, so that the number does not depend on scheduling.
    std::uint32_t ordinal = 0;
};

/// What a fiber waits for.
enum class waiting_for : std::uint8_t { nothing, effect, children, permit, future };

/// Notified by the machine of events of a fiber that concern its driver.
/// Must not run the fiber from these functions.
class fiber_driver {
public:
    virtual ~fiber_driver() = default;
    /// A parked fiber may be run again.
    virtual void wake(fiber& ready) noexcept = 0;
    /// Cancellation was requested while the fiber waits for an effect: end that effect.
    virtual void cancel_effect(fiber& waiting) noexcept = 0;
};

/// Frames, registers, dynamic scope and cancellation of one fiber. Created by start_fiber or by the
/// machine; driven by the host. About a kilobyte with its frames. Threads: the session's only.
class fiber {
public:
    explicit fiber(lang::realm& realm);
    ~fiber();
    fiber(const fiber&) = delete;
    fiber& operator=(const fiber&) = delete;

    [[nodiscard]] lang::realm& realm() const noexcept { return *realm_; }
    [[nodiscard]] bool cancel_requested() const noexcept { return cancel_ != cancel_reason::none; }
    [[nodiscard]] cancel_reason cancelled_because() const noexcept { return cancel_; }
    /// Whether cleanup code runs: cancellation waits until it has ended.
    [[nodiscard]] bool cancellation_masked() const noexcept { return !cleanups_.empty(); }
    [[nodiscard]] waiting_for waits() const noexcept { return waits_; }
    [[nodiscard]] const scope_ref& scope() const noexcept { return scope_; }
    [[nodiscard]] effect_request& request() noexcept { return *request_; }
    /// Whether it is a spawned branch.
    [[nodiscard]] bool is_future() const noexcept { return !future_.is_nil(); }
    [[nodiscard]] std::size_t depth() const noexcept { return frames_.size(); }
    /// A number that no other step of the branch has (effect_request::ordinal). Only between runs
    /// of the machine.
    [[nodiscard]] std::uint32_t take_ordinal() noexcept { return next_ordinal_++; }
    /// When the time of what it does is over (host_names::now()), or nothing: the deadline of its
    /// scope, or what a cleanup may wait for. A wait for a permit or for a future is to be cut
    /// then: machine::interrupt_wait.
    [[nodiscard]] std::optional<double> deadline() const noexcept;
    /// Whether its code belongs to a cleanup, which must not wait for the outside for long.
    [[nodiscard]] bool cleans_up() const noexcept { return !cleanups_.empty() || of_cleanup_; }

    fiber_driver* driver = nullptr; ///< set by the host before the first run
    void* driver_data = nullptr;    ///< for use by the host

    /// Requests cancellation of the fiber and of all branches below it. The request does not end
    /// them: run the fiber to its end.
    /// `end`: when its cleanups must be over, if that is earlier than the usual bound.
    void request_cancel(cancel_reason reason, double end = cleanup_limits::never) noexcept;

    /// Memory charged for what a driver keeps for each fiber, usually the frame of a coroutine.
    static constexpr std::size_t kept_by_driver = 2048;

private:
    friend class machine;
    friend class join;
    friend class future;
    friend class concurrency_scope;
    friend class fiber_queue;
    friend class interpreter;
    friend class permit_waits;
    friend branch_place place_of(const fiber&);
    friend map_progress outermost_maps(const fiber&);
    friend std::unique_ptr<fiber> start_fiber(lang::realm&, value, std::span<const value>,
                                              scope_ref);
    friend std::unique_ptr<fiber> start_program(lang::realm&, std::vector<datum>, scope_ref,
                                                function_ref&);

    void reserve(std::size_t registers); ///< makes room for that many values in the stack
    /// Frees a part of the stack that a deep recursion has left, so that a program that goes on
    /// after a memory limit has memory again.
    void give_back_spare() noexcept;
    void relocate(std::size_t registers); ///< as reserve, but always in other memory
    [[nodiscard]] std::size_t end_of_frames() const noexcept; ///< behind their last register
    void move_away(); ///< moves stack and frames to other memory, without spare room; see realm
    /// The part of request_cancel that concerns only this fiber. True when branches that it has
    /// opened must be asked as well.
    [[nodiscard]] bool ask_to_end(cancel_reason reason, double end) noexcept;
    /// Requests cancellation of the branches that those fibers, linked by queue_next_, have opened,
    /// and of all below them. If each were left until the branch that opened it ends, a branch that
    /// keeps opening others could avoid its end forever.
    static void ask_branches(fiber* waiting) noexcept;
    /// Bounds a cleanup that something waits for, and all branches below it.
    void end_cleanup_by(double end) noexcept;
    /// The part of end_cleanup_by that concerns only this fiber. False when an end at least as
    /// early is already set.
    bool limit_cleanups(double end) noexcept;
    /// Ends the wait for a permit or a future; false if it waits for neither.
    bool leave_wait() noexcept;

    lang::realm* realm_;
    value* stack_ = nullptr;
    std::size_t capacity_ = 0;
    frame_stack frames_;
    std::vector<inline_branch> branches_;
    scope_ref scope_;
    std::unique_ptr<effect_request> request_;
    std::int32_t first_call_ =
        -1; ///< arguments of the call at stack 0 that starts the fiber, or -1
    std::uint32_t result_slot_ = 0; ///< stack index for the result of an effect
    waiting_for waits_ = waiting_for::nothing;
    bool has_waited_ = false; ///< since it was run last
    cancel_reason cancel_ = cancel_reason::none;
    std::vector<cleanup_mark> cleanups_; ///< started by an error or a cancellation
    std::unique_ptr<pending_job> job_;   ///< runs in turns for it; its result goes to result_slot_
    std::optional<error> incoming_;      ///< the failure of the effect that was waited for
    std::optional<error> unwinding_;     ///< on its way out of more frames than fit in a slice
    std::size_t charged_frames_ = 0;
    std::uint32_t child_index_ = 0;  ///< in the join's list of children
    std::uint32_t next_ordinal_ = 0; ///< of what the branch does, see effect_request::ordinal
    std::uint32_t slot_ = 0;         ///< of group_; without one: see branch_place
    value group_;                    ///< the join this fiber is a branch of, or nil
    join* opened_ = nullptr;         ///< the last of the groups that its frames have opened
    permit permit_;
    fiber* lender_ = nullptr;              ///< see machine::lend_permit
    unsigned borrowers_ = 0;               ///< whose lender it is
    bool has_lent_ = false;                ///< its permit, to one of them
    concurrency_scope* granted_ = nullptr; ///< a permit that was granted while waiting
    value future_;                         ///< the future of a spawned branch, or nil
    value waits_on_;                       ///< the join or the future that is waited for
    std::uint64_t cleanup_steps_ = 0;      ///< of cleanups that delay an end
    std::optional<error> overlong_; ///< raised at each of their steps once there were too many
    bool of_cleanup_ = false;       ///< a branch that a cleanup started
    cleanup_limits ending_;         ///< with of_cleanup_: those of that cleanup
    double cancel_end_ = cleanup_limits::never;    ///< of cleanups, once cancellation was requested
    double reported_end_ = cleanup_limits::never;  ///< that end_cleanup_by has passed on
    double unwinding_end_ = cleanup_limits::never; ///< of the cleanups of the error that unwinds
    concurrency_scope* waits_scope_ =
        nullptr;                    ///< whose permit is waited for; its join keeps it alive
    fiber* queue_before_ = nullptr; ///< in its queue
    fiber* queue_next_ = nullptr;   ///< in its queue, or in a list of waiting fibers to visit
    bool stop_noted_ = false;       ///< one of branches_ was asked to end since they were looked at
    std::size_t stopping_at_ = none; ///< the outermost of branches_ that was asked to end
    static constexpr std::size_t none = SIZE_MAX;
};

} // namespace heddle::lang
