// Identifies prompts with the same beginning.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace heddle::providers {

/// A hash of model, tools and the beginning of the prompt: of the part up to the last message that
/// is marked with cache_up_to_here, or else of the first `bytes` bytes. Nothing if that is shorter
/// than `bytes`. Two requests with the same hash can share a cached prompt.
/// Complexity: linear in that part, some gigabytes per second; no allocation. Pure.
[[nodiscard]] std::optional<std::uint64_t> prefix_hash(const ports::chat_request& request,
                                                       std::size_t bytes) noexcept;

} // namespace heddle::providers
