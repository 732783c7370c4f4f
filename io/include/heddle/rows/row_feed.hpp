// Rows for a loop, read ahead on a thread.
#pragma once

#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/rows/row_reader.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace heddle::rows {

struct row_feed_options {
    std::size_t max_rows = 512;                           ///< read ahead
    std::size_t max_bytes = std::size_t{4} * 1024 * 1024; ///< of them; one row is always read
};

/// Reads ahead on a thread of its own, so that the loop never blocks. It does not use a pool of
/// workers: a standard input that never ends would occupy one of them for ever.
/// Threads: the loop's only.
class row_feed {
public:
    /// Starts the thread. `loop` and its io_context outlive the feed. Errors: io_error when the
    /// system has no thread.
    [[nodiscard]] static result<std::unique_ptr<row_feed>> start(coro::event_loop& loop,
                                                                 std::unique_ptr<row_reader> reader,
                                                                 row_feed_options options = {});
    /// As close.
    ~row_feed();
    row_feed(const row_feed&) = delete;
    row_feed& operator=(const row_feed&) = delete;

    /// The next row; nothing at the end. One call at a time. Errors: as row_reader::next, after
    /// the rows before it; cancelled after close. Cancellation and deadline end the wait only: no
    /// row is lost, and a later call returns it.
    [[nodiscard]] coro::task<result<std::optional<row_item>>> next(coro::call_context context);
    /// At least one row and at most `max_rows`, those that are ready; none at the end.
    [[nodiscard]] coro::task<result<std::vector<row_item>>> next_batch(std::size_t max_rows,
                                                                       coro::call_context context);

    /// Stops reading, drops what was read ahead and ends the thread, also while it waits for
    /// standard input; returns once it has ended, after at most one read of a file. Not while a
    /// call of next waits: cancel and await that first.
    void close() noexcept;

    [[nodiscard]] row_progress progress() const noexcept;

private:
    struct core;
    explicit row_feed(std::shared_ptr<core> own);
    std::shared_ptr<core> core_;
};

} // namespace heddle::rows
