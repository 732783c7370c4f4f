// Where a builtin gets its arguments from.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::lang {

/// Registers of a call of a builtin: its arguments, and the one for its value.
struct builtin_place {
    std::size_t dest;
    std::size_t first;
    std::size_t count;
    enum class arguments : std::uint8_t {
        leave, ///< they are temporary, and may stay
        clear, ///< they are temporary, and go
        keep   ///< they are needed afterwards
    } then = arguments::leave;
};

} // namespace heddle::lang
