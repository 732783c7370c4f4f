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

/// Asks the gate of `request`, which has one. `failed`: the attempt before; `lost`: of the ones
/// before that. A value: what is sent in place of `request`; null: `request` itself. Errors: it is
/// not sent. All arguments outlive the call.
[[nodiscard]] coro::task<result<std::unique_ptr<const ports::chat_request>>> admit(
    const ports::chat_request& request, const std::optional<error>& failed,
    const std::vector<ports::lost_request>& lost, coro::call_context context);

} // namespace heddle::providers
