// Tokens of a request before a service has counted them.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <cstdint>

namespace heddle::tasks {

/// An estimate of the input tokens of a request, from the bytes of its messages, tools and schema:
/// what the limits of a task and budgets use before the service has reported a figure.
[[nodiscard]] std::int64_t estimated_tokens(const ports::chat_request& request) noexcept;

} // namespace heddle::tasks
