// Structured concurrency: children that never outlive their scope.
#pragma once

#include <heddle/coro/wait_point.hpp>

#include <cstddef>
#include <optional>

namespace heddle::coro {

/// Owns concurrent children. The first child that fails cancels the others with
/// cancel_reason::sibling; join() waits for all of them and gives that first error.
/// Destroying a nursery with living children is a bug and terminates: join first.
/// Threads: the shard's only.
class nursery {
public:
    explicit nursery(call_context parent) : parent_(parent), cancel_(parent.cancel) {}
    nursery(const nursery&) = delete;
    nursery& operator=(const nursery&) = delete;
    ~nursery();

    /// What children are to be given: the parent's deadline, this nursery's cancellation.
    [[nodiscard]] call_context context() noexcept { return parent_.with_cancel(cancel_); }

    /// Starts a child; it runs at the loop's next turn. An exception that leaves it becomes an
    /// internal error.
    void start(task<result<void>> child);
    /// Asks all children to end; join() still has to be awaited.
    void cancel(cancel_reason reason) noexcept { cancel_.request(reason); }
    /// Waits for every child, also after cancellation. Errors: the first child's.
    [[nodiscard]] task<result<void>> join();
    [[nodiscard]] std::size_t living() const noexcept { return living_; }

private:
    void ended(result<void> outcome) noexcept;

    call_context parent_;
    cancel_source cancel_;
    wait_point all_ended_;
    std::size_t living_ = 0;
    std::optional<error> first_error_;
};

} // namespace heddle::coro
