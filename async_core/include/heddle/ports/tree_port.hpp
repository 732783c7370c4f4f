// Directory trees, and workers for blocking work.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ports {

enum class entry_kind : std::uint8_t { file, folder, link, other };

/// A name in a folder.
struct tree_entry {
    std::string name;
    entry_kind kind = entry_kind::other; ///< of the name itself: links are not followed
    std::uint64_t bytes = 0;
    std::int64_t modified_ns = 0; ///< since 1970
};

/// Folders and files by absolute paths, for code that runs on a worker thread. Every call blocks.
/// Threads: any, several at once.
class tree_port {
public:
    virtual ~tree_port() = default;
    /// The absolute path without links. Errors: not_found, io_error.
    [[nodiscard]] virtual result<std::string> resolve(const std::string& path) const = 0;
    /// Sorted by bytes; without "." and "..". Errors: not_found, io_error, limit_exceeded.
    [[nodiscard]] virtual result<std::vector<tree_entry>> list(const std::string& folder,
                                                               std::size_t max_entries) const = 0;
    /// The bytes of a regular file; a link is not followed. Errors: not_found, io_error,
    /// invalid_argument (no regular file), limit_exceeded.
    [[nodiscard]] virtual result<std::string> read(const std::string& file,
                                                   std::size_t max_bytes) const = 0;
    /// The first bytes of a regular file, or all of a shorter one. Errors: as read.
    [[nodiscard]] virtual result<std::string> beginning(const std::string& file,
                                                        std::size_t bytes) const = 0;
    /// Replaces the file in one step: a reader sees either the old bytes or the new ones.
    [[nodiscard]] virtual result<void> replace(const std::string& file,
                                               std::string_view bytes) const = 0;
};

/// Runs work that blocks or computes for long on other threads than that of the loop.
class worker_port {
public:
    /// `abandoned` becomes true once the caller no longer waits: the work should end soon.
    using work = std::function<void(const std::atomic<bool>& abandoned)>;

    virtual ~worker_port() = default;
    /// Waits for the work on the loop. The work is copied, and what it refers to must outlive it;
    /// it may end after the call. Errors: cancelled; internal for an exception.
    /// Cancellation: the call ends at once, the work ends by itself.
    [[nodiscard]] virtual coro::task<result<void>> run(work job, coro::call_context context) = 0;
};

} // namespace heddle::ports
