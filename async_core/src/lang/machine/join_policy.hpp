// What a join makes of its branches' ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::lang {

enum class join_policy : std::uint8_t {
    all,     ///< list of values; the first error ends the others and is raised
    settled, ///< list of maps ok/value/error; never fails
    first,   ///< the first success; the others are ended; all failed: the last error
    futures, ///< nothing: each branch is a future; ended when their scope is left
    hedge    ///< as first, but the failure of branch 0 counts until branch 1 has really begun
};

/// In the order of the enumerators: what %join-scope of the prelude calls them.
inline constexpr std::array<std::string_view, 5> join_policy_names{"all", "settled", "first",
                                                                   "futures", "hedge"};

[[nodiscard]] constexpr std::optional<join_policy> join_policy_named(
    std::string_view name) noexcept {
    for (std::size_t i = 0; i < join_policy_names.size(); ++i) {
        if (join_policy_names[i] == name) return static_cast<join_policy>(i);
    }
    return std::nullopt;
}

} // namespace heddle::lang
