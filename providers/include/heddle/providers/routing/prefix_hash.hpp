// Which prompts begin alike.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace heddle::providers {

/// A hash of model, tools and the beginning of the prompt: of the part up to the last message that
/// is marked with cache_up_to_here, or else of the first `bytes` bytes. Empty when that is shorter
/// than `bytes`. Two requests with the same hash can share what a service keeps of a prompt.
/// Complexity: linear in the part that counts, some gigabytes a second; no allocation. Pure.
[[nodiscard]] std::optional<std::uint64_t> prefix_hash(const ports::chat_request& request,
                                                       std::size_t bytes) noexcept;

} // namespace heddle::providers
