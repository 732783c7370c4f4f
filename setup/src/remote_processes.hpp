// Programs that the loop of another thread runs.
#pragma once

#include <heddle/coro/loop_address.hpp>
#include <heddle/ports/process_port.hpp>

#include <memory>

namespace heddle::setup {

/// Forwards to `port` on its loop `home`, so that one guard watches all programs. `port` outlives
/// the result and its calls. Threads: any.
[[nodiscard]] std::unique_ptr<ports::process_port> make_remote_processes(coro::loop_address home,
                                                                         ports::process_port& port);

} // namespace heddle::setup
