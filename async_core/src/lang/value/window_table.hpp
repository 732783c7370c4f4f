// A hash table of windows on storage.
#pragma once

#include "lang/value/chained_buckets.hpp"

#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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

/// What is known of each window. No operation takes long, however many there are.
/// Threads: one at a time.
template <class Known>
class window_table {
public:
    /// Null when nothing is known. Valid as long as the table.
    [[nodiscard]] const Known* find(const window& key) const noexcept {
        const entry* found = find(key, window_hash()(key));
        return found ? &found->known : nullptr;
    }
    /// What is known of the window, and whether that is `known`: as for find().
    /// Exceptions: bad_alloc, and the table is as before.
    std::pair<const Known*, bool> emplace(const window& key, const Known& known) {
        const std::size_t hash = window_hash()(key);
        if (const entry* found = find(key, hash)) return {&found->known, false};
        if (free_ == 0) make_room();
        entry& added = *next_;
        added = {key, known, nullptr, static_cast<std::uint32_t>(hash)};
        buckets_.insert(added);
        ++next_;
        --free_;
        return {&added.known, true};
    }

    /// Forgets the entries that were made last; false: there was none. Nothing else may follow.
    bool drop_some() noexcept {
        if (chunks_.empty()) return false;
        chunks_.pop_back();
        return true;
    }

private:
    struct entry {
        window key;
        [[no_unique_address]] Known known;
        entry* chain;
        std::uint32_t hash;
    };

    [[nodiscard]] const entry* find(const window& key, std::size_t hash) const noexcept {
        return buckets_.find(hash, [&key](const entry& each) { return each.key == key; });
    }
    void make_room() {
        constexpr std::size_t few = 8;
        constexpr std::size_t many = 256;
        const std::size_t count = std::clamp(buckets_.size(), few, many);
        chunks_.push_back(std::make_unique_for_overwrite<entry[]>(count));
        next_ = chunks_.back().get();
        free_ = count;
    }

    std::vector<std::unique_ptr<entry[]>> chunks_;
    entry* next_ = nullptr; ///< the next that is free
    std::size_t free_ = 0;  ///< in its chunk
    chained_buckets<entry> buckets_;
};

} // namespace heddle::lang
