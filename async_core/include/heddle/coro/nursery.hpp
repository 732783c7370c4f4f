// Structured concurrency: children that never outlive their scope.
#pragma once

#include <heddle/coro/wait_point.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace heddle::coro {

/// Owns concurrent children. The first child that fails cancels the others with
/// cancel_reason::sibling; join() waits for all of them and returns that first error.
/// Destroying a nursery with living children is a bug and terminates: join first.
/// Threads: the shard's only.
class nursery {
public:
    /// What the failure of a child does.
    enum class on_failure : std::uint8_t {
        cancel_siblings,
        ignore ///< its siblings go on, and join() does not return it
    };

    explicit nursery(call_context parent, on_failure policy = on_failure::cancel_siblings)
        : parent_(parent), policy_(policy), cancel_(parent.cancel), joining_(wait_for_all()) {}
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;
    ~nursery();

    /// The context for children: the parent's deadline and this nursery's cancellation.
    [[nodiscard]] call_context context() noexcept { return parent_.with_cancel(cancel_); }

    /// Starts a child; it runs in the loop's next turn. An exception that leaves the child becomes
    /// its error. Throws if there is not enough memory to start it; the child then counts as
    /// failed.
    void start(task<result<void>> child);
    /// Starts the child that `make` returns. Does not throw: a child that cannot be created or
    /// started for lack of memory counts as failed. For use when other children are already running
    /// and must be joined.
    template <class Make>
    requires std::is_invocable_r_v<task<result<void>>, Make&> void start(Make make) noexcept {
        try {
            start(task<result<void>>(make()));
        } catch (...) {
            refused();
        }
    }
    /// Requests cancellation of all children; join() must still be awaited.
    void cancel(cancel_reason reason) noexcept { cancel_.request(reason); }
    /// Waits for every child, also after cancellation. Errors: that of the first child that failed.
    /// The first call needs no memory.
    [[nodiscard]] task<result<void>> join();
    [[nodiscard]] std::size_t living() const noexcept { return living_; }

private:
    void ended(result<void> outcome) noexcept;
    class child_end;
    void refused() noexcept;
    void note(error failure) noexcept;
    [[nodiscard]] task<result<void>> wait_for_all();

    call_context parent_;
    on_failure policy_;
    cancel_source cancel_;
    wait_point all_ended_;
    std::size_t living_ = 0;
    std::optional<error> first_error_;
    task<result<void>> joining_; ///< created before any child that must be joined
};

} // namespace heddle::coro
