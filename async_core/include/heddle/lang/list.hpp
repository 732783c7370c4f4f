// Lists.
#pragma once

#include <heddle/lang/heap.hpp>

#include <span>

namespace heddle::lang {

/// The elements, valid as long as some value keeps the storage.
[[nodiscard]] std::span<const value> list_items(const value& list) noexcept;
[[nodiscard]] value make_list(heap& memory, std::span<const value> items);
/// As make_list, with room for `capacity` elements before the first growth.
[[nodiscard]] value make_list_with_capacity(heap& memory, std::size_t capacity);
/// Capacity of new storage.
struct list_room {
    std::size_t capacity = 0;
    std::size_t front = 0; ///< of these, free places before the first element
};
/// As make_list_with_capacity, with room to push to the front as well.
[[nodiscard]] value make_list_with_room(heap& memory, list_room room);
/// The room for a copy to whose front elements are pushed, or to which `elements` are appended. The
/// copy keeps the free room at the other end, so growth at both ends is amortised too.
[[nodiscard]] list_room room_for_push_front(const value& list) noexcept;
[[nodiscard]] list_room room_to_append(const value& list, std::size_t elements) noexcept;
/// Whether list_concat() can append that many elements without copying, when the list is moved to
/// it.
[[nodiscard]] bool list_grows_in_place(const value& list, std::size_t elements) noexcept;
/// Whether list_push_front() needs no copy, when the list is moved to it.
[[nodiscard]] bool list_grows_at_front(const value& list) noexcept;
/// Amortised constant time if `list` owns the edge of its storage, or is its only user: then what
/// is outside of its window is overwritten. A copy otherwise.
[[nodiscard]] value list_push_front(heap& memory, value item, value list);
[[nodiscard]] value list_push_back(heap& memory, value list, value item);
[[nodiscard]] value list_concat(heap& memory, value left, std::span<const value> right);
/// The elements [from, to), in constant time. The caller has checked the bounds. The result shares
/// the storage of `list`, unless the result is small and the storage large.
[[nodiscard]] value list_slice(value list, std::size_t from, std::size_t to);

} // namespace heddle::lang
