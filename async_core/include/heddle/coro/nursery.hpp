// Structured concurrency: children that never outlive their scope.
#pragma once

#include <heddle/coro/wait_point.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>

namespace heddle::coro {

/// Owns concurrent children. The first child that fails cancels the others with
/// cancel_reason::sibling; join() waits for all of them and gives that first error.
/// Destroying a nursery with living children is a bug and terminates: join first.
/// Threads: the shard's only.
class nursery {
public:
    explicit nursery(call_context parent)
        : parent_(parent), cancel_(parent.cancel), joining_(wait_for_all()) {}
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;
    ~nursery();

    /// What children are to be given: the parent's deadline, this nursery's cancellation.
    [[nodiscard]] call_context context() noexcept { return parent_.with_cancel(cancel_); }

    /// Starts a child; it runs at the loop's next turn. An exception that leaves it is its error. When
    /// there is no memory to start it, it has failed, and this throws.
    void start(task<result<void>> child);
    /// As above, with the child that `make` gives. Without the memory for it, it counts as a child that
    /// has failed: for where others live already, which must be joined.
    template <class Make>
    requires std::is_invocable_r_v<task<result<void>>, Make&> void start(Make make) noexcept {
        try {
            start(task<result<void>>(make()));
        } catch (...) {
            refused();
        }
    }
    /// Asks all children to end; join() still has to be awaited.
    void cancel(cancel_reason reason) noexcept { cancel_.request(reason); }
    /// Waits for every child, also after cancellation. Errors: the first child's. To call it needs no
    /// memory the first time.
    [[nodiscard]] task<result<void>> join();
    [[nodiscard]] std::size_t living() const noexcept { return living_; }

private:
    void ended(result<void> outcome) noexcept;
    class child_end;
    void refused() noexcept;
    void note(error failure) noexcept;
    [[nodiscard]] task<result<void>> wait_for_all();

    call_context parent_;
    cancel_source cancel_;
    wait_point all_ended_;
    std::size_t living_ = 0;
    std::optional<error> first_error_;
    task<result<void>> joining_; ///< made while there are no children who would have to be joined
};

} // namespace heddle::coro
