#include <heddle/lang/map.hpp>
#include <heddle/lang/map_pattern.hpp>

#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>

namespace heddle::lang {

namespace {

constexpr std::size_t indexed_from = 8; ///< below, a scan is faster than a hash table

[[nodiscard]] map_object* storage_of(const value& map) noexcept {
    return static_cast<map_object*>(map.target());
}

[[nodiscard]] std::size_t hash_in(const map_object* storage, std::string_view key) noexcept {
    return hash_text(storage->owner->hash_seed(), key);
}

/// Whether the entries of a map have the hashes that they would have in this heap.
[[nodiscard]] bool has_hashes_of(const heap& memory, const value& map) noexcept {
    const heap* const owner = map.target()->owner;
    if (owner == &memory) return true;
    const hash_key& one = owner->hash_seed();
    const hash_key& other = memory.hash_seed();
    return one.first == other.first && one.second == other.second;
}

/// Position of a key among the first `visible` entries, or -1.
[[nodiscard]] std::ptrdiff_t find(const map_object* storage, std::size_t visible,
                                  std::string_view key, std::size_t hash) noexcept {
    const map_entry* entries = storage->entries();
    if (!storage->index) {
        for (std::size_t i = 0; i < visible; ++i) {
            if (entries[i].hash == hash && string_bytes(entries[i].key) == key)
                return static_cast<std::ptrdiff_t>(i);
        }
        return -1;
    }
    const std::size_t mask = storage->capacity * std::size_t{2} - 1;
    for (std::size_t slot = hash & mask; storage->index[slot] != 0; slot = (slot + 1) & mask) {
        const std::size_t at = storage->index[slot] - 1;
        if (entries[at].hash == hash && string_bytes(entries[at].key) == key) {
            return at < visible ? static_cast<std::ptrdiff_t>(at) : -1;
        }
    }
    return -1;
}

/// The last entry was added.
void index_last(map_object* storage, std::size_t hash) noexcept {
    ++storage->used;
    if (!storage->index) return;
    const std::size_t mask = storage->capacity * std::size_t{2} - 1;
    std::size_t slot = hash & mask;
    while (storage->index[slot] != 0) slot = (slot + 1) & mask;
    storage->index[slot] = storage->used;
}

void append(map_object* storage, value key, value item, std::size_t hash) noexcept {
    new (storage->entries() + storage->used) map_entry{std::move(key), std::move(item), hash};
    index_last(storage, hash);
}

[[nodiscard]] map_object* make_storage(heap& memory, std::size_t at_least) {
    std::size_t capacity = 4;
    while (capacity < at_least) capacity *= 2;
    // Of a large one the system clears a page when it is used first.
    struct freeing {
        void operator()(std::uint32_t* given) const noexcept { std::free(given); }
    };
    std::unique_ptr<std::uint32_t, freeing> index;
    if (capacity > indexed_from) {
        index.reset(static_cast<std::uint32_t*>(std::calloc(capacity * 2, sizeof(std::uint32_t))));
        if (!index) throw std::bad_alloc();
    }
    auto* result = static_cast<map_object*>(
        memory.allocate(kind::map, sizeof(map_object) + capacity * sizeof(map_entry)));
    result->capacity = static_cast<std::uint32_t>(capacity);
    result->used = 0;
    result->index = index.release();
    if (result->index) memory.charge(capacity * 2 * sizeof(std::uint32_t));
    return result;
}

[[nodiscard]] map_object* copy_storage(heap& memory, const value& map, std::size_t capacity) {
    map_object* copy = make_storage(memory, capacity);
    const bool same_key = has_hashes_of(memory, map);
    for (const map_entry& entry : map_entries(map)) {
        append(copy, entry.key, entry.item,
               same_key ? entry.hash : hash_in(copy, string_bytes(entry.key)));
    }
    return copy;
}

/// As copy_storage, for a map that is given up: where nobody else sees its entries they move, and
/// their keys and items need not be counted up and down again.
[[nodiscard]] map_object* grow_storage(heap& memory, const value& map, std::size_t capacity) {
    map_object* from = storage_of(map);
    if (from->references != 1 || from->used != map.length() || from->owner != &memory)
        return copy_storage(memory, map, capacity);
    map_object* grown = make_storage(memory, capacity);
    // Values are trivially relocatable.
    std::memcpy(static_cast<void*>(grown->entries()), static_cast<const void*>(from->entries()),
                from->used * sizeof(map_entry));
    for (std::uint32_t k = 0; k < from->used; ++k) index_last(grown, grown->entries()[k].hash);
    from->used = 0;
    return grown;
}

} // namespace

std::span<const map_entry> map_entries(const value& map) noexcept {
    const map_object* storage = storage_of(map);
    return storage ? std::span(storage->entries(), map.length()) : std::span<const map_entry>();
}

const value* map_find(const value& map, std::string_view key) noexcept {
    const map_object* storage = storage_of(map);
    if (!storage) return nullptr;
    const std::ptrdiff_t at = find(storage, map.length(), key, hash_in(storage, key));
    return at < 0 ? nullptr : &storage->entries()[at].item;
}

value map_put(heap& memory, value map, value key, value item) {
    const std::string_view name = string_bytes(key);
    map_object* storage = storage_of(map);
    const std::size_t length = map.length();
    if (!storage) {
        map_object* fresh = make_storage(memory, 4);
        append(fresh, std::move(key), std::move(item), hash_in(fresh, name));
        return value::adopt(kind::map, fresh, 0, 1);
    }
    if (storage->owner != &memory) {
        map = value::adopt(kind::map, copy_storage(memory, map, length + 1), 0, length);
        storage = storage_of(map);
    }
    const std::size_t hash = hash_in(storage, name);
    const std::ptrdiff_t at = find(storage, length, name, hash);
    if (at >= 0) {
        if (storage->references == 1) {
            storage->entries()[at].item = std::move(item);
            return map;
        }
        map_object* copy = copy_storage(memory, map, length);
        copy->entries()[at].item = std::move(item);
        return value::adopt(kind::map, copy, 0, length);
    }
    if (length == storage->used && storage->used < storage->capacity) {
        heap::note_growth(storage, item);
        append(storage, std::move(key), std::move(item), hash);
        return std::move(map).window(0, length + 1);
    }
    map_object* grown =
        grow_storage(memory, map, length == storage->used ? length * 2 : length + 1);
    append(grown, std::move(key), std::move(item), hash);
    return value::adopt(kind::map, grown, 0, length + 1);
}

bool map_takes_in_place(const value& map, std::string_view key) noexcept {
    const map_object* storage = storage_of(map);
    if (!storage || storage->owner->is_frozen()) return false;
    return map_find(map, key) ? storage->references == 1 : map_free_places(map) != 0;
}

std::size_t map_free_places(const value& map) noexcept {
    const map_object* storage = storage_of(map);
    const bool grows = storage && map.length() == storage->used && !storage->owner->is_frozen();
    return grows ? storage->capacity - storage->used : 0;
}

value copy_map(heap& memory, const value& map, std::size_t capacity) {
    capacity = std::max<std::size_t>(capacity, map.length());
    if (map.length() == 0) return make_map_with_capacity(memory, capacity);
    return value::adopt(kind::map, copy_storage(memory, map, capacity), 0, map.length());
}

value map_with_items(heap& memory, const value& pattern, std::size_t first,
                     std::span<value> items) {
    const auto entries = map_entries(pattern);
    map_object* copy = make_storage(memory, entries.size());
    const bool same_key = has_hashes_of(memory, pattern);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const map_entry& entry = entries[i];
        append(copy, entry.key,
               i >= first && i - first < items.size() ? std::move(items[i - first]) : entry.item,
               same_key ? entry.hash : hash_in(copy, string_bytes(entry.key)));
    }
    return value::adopt(kind::map, copy, 0, entries.size());
}

value make_map_with_capacity(heap& memory, std::size_t capacity) {
    if (capacity == 0) return value::empty_map();
    return value::adopt(kind::map, make_storage(memory, capacity), 0, 0);
}

value map_put(heap& memory, value map, std::string_view key, value item) {
    return map_put(memory, std::move(map), make_string(memory, key), std::move(item));
}

} // namespace heddle::lang
