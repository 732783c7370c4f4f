// Whether a request of a call may be sent.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/llm_port.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace heddle::providers {

/// Asks the send gate of `request`, which must have one. `failed`: the previous attempt; `lost`:
/// those of earlier ones. Result: the request to send in place of `request`; null to send `request`
/// itself. Errors: the request must not be sent. All arguments outlive the call.
[[nodiscard]] coro::task<result<std::unique_ptr<const ports::chat_request>>> admit(
    const ports::chat_request& request, const std::optional<error>& failed,
    const std::vector<ports::lost_request>& lost, coro::call_context context);

} // namespace heddle::providers
