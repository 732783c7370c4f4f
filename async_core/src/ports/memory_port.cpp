#include <heddle/ports/memory_port.hpp>

namespace heddle::ports {

std::string_view to_string(matching_strategy strategy) noexcept {
    return strategy == matching_strategy::metadata ? "metadata" : "content";
}

std::optional<matching_strategy> matching_strategy_from(std::string_view name) noexcept {
    if (name == "content") return matching_strategy::content;
    if (name == "metadata") return matching_strategy::metadata;
    return std::nullopt;
}

} // namespace heddle::ports
