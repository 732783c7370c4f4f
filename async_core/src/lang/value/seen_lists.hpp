// Walks over data that shares parts.
#pragma once

#include <heddle/lang/objects.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace heddle::lang {

/// What a value shows of a storage.
struct window {
    const object* storage;
    std::uint32_t offset;
    std::uint32_t length;
    bool operator==(const window&) const = default;
};
[[nodiscard]] inline window window_of(const value& v) noexcept {
    return {v.target(), v.offset(), v.length()};
}
struct window_hash {
    std::size_t operator()(const window& w) const noexcept {
        std::size_t hash = reinterpret_cast<std::size_t>(w.storage) * 0x9E3779B97F4A7C15ULL;
        hash ^= (hash >> 32) ^ (std::size_t{w.offset} << 28 | w.length);
        hash *= 0xBF58476D1CE4E5B9ULL;
        return hash ^ hash >> 31;
    }
};

/// What is known of each.
template <class Known>
using window_table = std::unordered_map<window, Known, window_hash>;

/// The lists and maps that a walk over data has been at. A value that holds the same part twice at
/// each of 60 levels is small, and has 2^60 paths: who walks over data walks each part once.
class seen_lists {
public:
    /// False when the part was seen before. `part` is where it is held: a copy would count as a
    /// second place. Parts that stand in one place only cost nothing.
    [[nodiscard]] bool first_time(const value& part) {
        const object* storage = part.target();
        if (!storage || storage->references == 1) return true;
        return seen_.insert(window_of(part)).second;
    }

private:
    std::unordered_set<window, window_hash> seen_;
};

} // namespace heddle::lang
