// Maps: ordered string keys to values.
#pragma once

#include <heddle/lang/heap.hpp>

#include <span>
#include <string_view>

namespace heddle::lang {

struct map_entry;

/// Entries in order of insertion.
[[nodiscard]] std::span<const map_entry> map_entries(const value& map) noexcept;
/// The value of a key, or null. Constant time.
[[nodiscard]] const value* map_find(const value& map, std::string_view key) noexcept;
/// The map with `key` (a string value) set; an existing key keeps its place. Constant time for a
/// new key on the newest version and for any key when `map` is the only owner; a copy otherwise.
[[nodiscard]] value map_put(heap& memory, value map, value key, value item);
[[nodiscard]] value map_put(heap& memory, value map, std::string_view key, value item);
/// Whether map_put() of that key writes into the existing storage, and so needs no memory.
[[nodiscard]] bool map_takes_in_place(const value& map, std::string_view key) noexcept;
/// Number of new keys that map_put() can add to the existing storage.
[[nodiscard]] std::size_t map_free_places(const value& map) noexcept;
/// A copy with its own storage and room for `capacity` keys. Copies in one turn: for small maps.
[[nodiscard]] value copy_map(heap& memory, const value& map, std::size_t capacity);
/// An empty map with room for `capacity` keys before the first growth.
[[nodiscard]] value make_map_with_capacity(heap& memory, std::size_t capacity);

} // namespace heddle::lang
