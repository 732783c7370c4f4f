// A hash table of windows on storage.
#pragma once

#include <heddle/lang/objects.hpp>

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

/// What is known of each window. No operation takes long, however many there are: a large table
/// consists of parts that grow one by one, and goes without a look at each entry.
/// Threads: one at a time.
template <class Known>
class window_table {
public:
    /// Null when nothing is known. Valid until the next emplace().
    [[nodiscard]] const Known* find(const window& key) const noexcept {
        const std::size_t hash = window_hash()(key);
        const part& in = parts_.empty() ? first_ : parts_[part_of(hash)];
        if (in.used == 0) return nullptr;
        const entry& found = in.place_of(key, hash);
        return found.is_free() ? nullptr : &found.known;
    }
    /// What is known of the window, and whether that is `known`: as for find().
    /// Exceptions: bad_alloc, and the table is as before.
    std::pair<const Known*, bool> emplace(const window& key, const Known& known) {
        if (parts_.empty() && first_.used == max_undivided) divide();
        const std::size_t hash = window_hash()(key);
        part& in = parts_.empty() ? first_ : parts_[part_of(hash)];
        if (in.used * 2 >= in.capacity) in.grow();
        entry& found = in.place_of(key, hash);
        const bool added = found.is_free();
        if (added) {
            found = {key, known};
            ++in.used;
        }
        return {&found.known, added};
    }

private:
    static constexpr std::uint32_t no_offset = UINT32_MAX; // windows have offsets of 28 bits
    static constexpr unsigned part_bits = 10;
    static constexpr std::size_t max_undivided = 1024;

    struct entry {
        window key{nullptr, no_offset, 0};
        Known known{};
        [[nodiscard]] bool is_free() const noexcept { return key.offset == no_offset; }
    };

    struct part {
        std::unique_ptr<entry[]> entries;
        std::size_t capacity = 0; ///< 0, or a power of two
        std::size_t used = 0;

        /// Where the window is, or may be put.
        [[nodiscard]] entry& place_of(const window& key, std::size_t hash) const noexcept {
            std::size_t at = hash & (capacity - 1);
            while (!entries[at].is_free() && entries[at].key != key) at = (at + 1) & (capacity - 1);
            return entries[at];
        }
        void grow() {
            part larger;
            larger.capacity = capacity == 0 ? 8 : capacity * 2;
            larger.entries = std::make_unique<entry[]>(larger.capacity);
            for (std::size_t i = 0; i < capacity; ++i) {
                entry& moved = entries[i];
                if (moved.is_free()) continue;
                larger.place_of(moved.key, window_hash()(moved.key)) = moved;
            }
            larger.used = used;
            *this = std::move(larger);
        }
    };

    [[nodiscard]] static std::size_t part_of(std::size_t hash) noexcept {
        return hash >> (sizeof(hash) * 8 - part_bits);
    }
    void divide() {
        window_table divided;
        divided.parts_.resize(std::size_t{1} << part_bits);
        for (std::size_t i = 0; i < first_.capacity; ++i) {
            const entry& moved = first_.entries[i];
            if (!moved.is_free()) divided.emplace(moved.key, moved.known);
        }
        *this = std::move(divided);
    }

    part first_;              ///< all, as long as they are few
    std::vector<part> parts_; ///< empty, or 2 to the power of part_bits
};

} // namespace heddle::lang
