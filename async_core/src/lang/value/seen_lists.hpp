// Walks over data that shares parts.
#pragma once

#include <heddle/lang/objects.hpp>

#include <cstddef>
#include <functional>
#include <unordered_set>

namespace heddle::lang {

/// The lists and maps that a walk over data has been at. A value that holds the same part twice at each of
/// 60 levels is small, and has 2^60 paths: who walks over data walks each part once.
class seen_lists {
public:
    /// False when the part was seen before. `part` stands where it is held: a copy would count as a
    /// second place. Parts that stand in one place only cost nothing.
    [[nodiscard]] bool first_time(const value& part) {
        const object* storage = part.target();
        if (!storage || storage->references == 1) return true;
        return seen_.insert({storage, part.offset(), part.length()}).second;
    }

private:
    struct window {
        const object* storage;
        std::uint32_t offset;
        std::uint32_t length;
        bool operator==(const window&) const = default;
    };
    struct hash {
        std::size_t operator()(const window& w) const noexcept {
            const std::size_t place = w.offset * 0x9E3779B97F4A7C15ULL + w.length;
            return std::hash<const void*>()(w.storage) ^ place * 0xBF58476D1CE4E5B9ULL;
        }
    };
    std::unordered_set<window, hash> seen_;
};

} // namespace heddle::lang
