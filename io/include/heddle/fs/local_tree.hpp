// The directory trees of this machine, and worker threads to read them.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/ports/tree_port.hpp>

#include <memory>

namespace heddle::fs {

/// Folders and files of this machine. Threads: any.
[[nodiscard]] std::shared_ptr<const ports::tree_port> make_local_tree();

/// `threads` workers, which start with the first work. The destructor drops work that has not begun
/// and waits for the rest. `loop` and its io_context outlive it. Threads: the shard's only.
[[nodiscard]] std::unique_ptr<ports::worker_port> make_worker_pool(coro::event_loop& loop,
                                                                   unsigned threads = 1);

} // namespace heddle::fs
