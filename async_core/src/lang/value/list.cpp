#include <heddle/lang/list.hpp>

#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cstring>

namespace heddle::lang {

namespace {

[[nodiscard]] list_object* storage_of(const value& list) noexcept {
    return static_cast<list_object*>(list.target());
}

/// Empty storage whose first element will stand at `begin`.
[[nodiscard]] list_object* make_storage(heap& memory, std::size_t capacity, std::size_t begin) {
    auto* result = static_cast<list_object*>(
        memory.allocate(kind::list, sizeof(list_object) + capacity * sizeof(value)));
    result->capacity = static_cast<std::uint32_t>(capacity);
    result->begin = result->end = static_cast<std::uint32_t>(begin);
    result->places = nullptr;
    return result;
}

/// Whether a window on the storage is the only reference to it.
[[nodiscard]] bool is_only_window(const list_object* storage) noexcept {
    return storage->references == 1 && storage->is_writable();
}

/// The free places that a list has at one end.
[[nodiscard]] std::size_t room_before(const value& list) noexcept {
    const list_object* storage = storage_of(list);
    return storage && list.offset() == storage->begin ? storage->begin : 0;
}
[[nodiscard]] std::size_t room_behind(const value& list) noexcept {
    const list_object* storage = storage_of(list);
    return storage && list.offset() + list.length() == storage->end
               ? storage->capacity - storage->end
               : 0;
}

void append(list_object* storage, std::span<const value> items) noexcept {
    for (const value& item : items) new (storage->items() + storage->end++) value(item);
}

/// The elements of a list that is given up: where nobody else sees them they move, and a million of
/// them need not be counted up and down again.
void append_all(list_object* storage, const value& list) noexcept {
    list_object* from = storage_of(list);
    if (!from || from->references != 1 || list.offset() != from->begin ||
        list.offset() + list.length() != from->end)
        return append(storage, list_items(list));
    // Values are trivially relocatable.
    std::memcpy(static_cast<void*>(storage->items() + storage->end),
                static_cast<const void*>(from->items() + from->begin),
                list.length() * sizeof(value));
    storage->end += static_cast<std::uint32_t>(list.length());
    from->end = from->begin;
}

} // namespace

std::span<const value> list_items(const value& list) noexcept {
    const list_object* storage = storage_of(list);
    return storage ? std::span(storage->items() + list.offset(), list.length())
                   : std::span<const value>();
}

value make_list(heap& memory, std::span<const value> items) {
    if (items.empty()) return value::empty_list();
    list_object* storage = make_storage(memory, items.size(), 0);
    append(storage, items);
    return value::adopt(kind::list, storage, 0, items.size());
}

value make_list_with_capacity(heap& memory, std::size_t capacity) {
    if (capacity == 0) return value::empty_list();
    return value::adopt(kind::list, make_storage(memory, capacity, 0), 0, 0);
}

value make_list_with_room(heap& memory, list_room room) {
    return value::adopt(kind::list, make_storage(memory, room.capacity, room.front), room.front, 0);
}

list_room room_for_push_front(const value& list) noexcept {
    // Grown downwards: the free room is in front. Offsets have 28 bits.
    const std::size_t length = list.length();
    const std::size_t wanted = length < 4 ? 4 : (length + 1) * 2;
    const std::size_t back = std::min(room_behind(list), length);
    const std::size_t capacity = std::min<std::size_t>(wanted + back, value::max_length);
    return {capacity, capacity - length - (capacity == wanted + back ? back : 0)};
}

list_room room_to_append(const value& list, std::size_t elements) noexcept {
    const std::size_t length = list.length();
    const std::size_t wanted = std::max<std::size_t>(4, length + elements + length / 2);
    const std::size_t front = std::min(room_before(list), length);
    if (wanted + front > value::max_length)
        return {std::min<std::size_t>(wanted, value::max_length), 0};
    return {wanted + front, front};
}

bool list_grows_at_front(const value& list) noexcept {
    const list_object* storage = storage_of(list);
    return storage && (storage->takes_before(list.offset()) ||
                       (is_only_window(storage) && list.offset() > storage->begin));
}

value list_push_front(heap& memory, value item, value list) {
    const std::size_t length = list.length();
    list_object* storage = storage_of(list);
    if (list_grows_at_front(list)) {
        const std::size_t offset = list.offset() - std::size_t{1};
        heap::note_growth(storage, item);
        if (list.offset() == storage->begin) {
            new (storage->items() + offset) value(std::move(item));
            --storage->begin;
        } else {
            storage->items()[offset] = std::move(item);
        }
        return std::move(list).window(offset, length + 1);
    }
    const list_room room = room_for_push_front(list);
    list_object* grown = make_storage(memory, room.capacity, room.front);
    append_all(grown, list);
    new (grown->items() + --grown->begin) value(std::move(item));
    return value::adopt(kind::list, grown, grown->begin, length + 1);
}

value list_push_back(heap& memory, value list, value item) {
    const std::size_t length = list.length();
    list_object* storage = storage_of(list);
    if (storage && storage->is_writable() && list.offset() + length == storage->end &&
        storage->end < storage->capacity) {
        heap::note_growth(storage, item);
        new (storage->items() + storage->end++) value(std::move(item));
        const std::size_t offset = list.offset();
        return std::move(list).window(offset, length + 1);
    }
    list_object* grown = make_storage(memory, length < 4 ? 4 : (length + 1) * 2, 0);
    append_all(grown, list);
    new (grown->items() + grown->end++) value(std::move(item));
    return value::adopt(kind::list, grown, 0, length + 1);
}

bool list_grows_in_place(const value& list, std::size_t elements) noexcept {
    const list_object* storage = storage_of(list);
    const std::size_t end = list.offset() + std::size_t{list.length()};
    return storage && storage->is_writable() && (end == storage->end || is_only_window(storage)) &&
           storage->capacity - end >= elements;
}

value list_concat(heap& memory, value left, std::span<const value> right) {
    if (right.empty()) return left;
    const std::size_t length = left.length();
    list_object* storage = storage_of(left);
    if (list_grows_in_place(left, right.size())) {
        const std::size_t offset = left.offset();
        for (const value& item : right) heap::note_growth(storage, item);
        const std::size_t seen = std::min(storage->end - (offset + length), right.size());
        std::copy_n(right.begin(), seen, storage->items() + offset + length);
        append(storage, right.subspan(seen));
        return std::move(left).window(offset, length + right.size());
    }
    const list_room room = room_to_append(left, right.size());
    list_object* grown = make_storage(memory, room.capacity, room.front);
    append_all(grown, left);
    append(grown, right);
    return value::adopt(kind::list, grown, room.front, length + right.size());
}

value list_slice(value list, std::size_t from, std::size_t to) {
    if (from >= to) return value::empty_list();
    // What is small does not keep what is large alive. What is frozen stays in any case.
    list_object* storage = storage_of(list);
    if (storage->outweighs(to - from) && !storage->owner->is_frozen())
        return make_list(*storage->owner, list_items(list).subspan(from, to - from));
    const std::size_t offset = list.offset() + from;
    return std::move(list).window(offset, to - from);
}

} // namespace heddle::lang
