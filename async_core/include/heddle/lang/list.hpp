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
/// Whether list_concat() has room for so many elements more, and copies nothing.
[[nodiscard]] bool list_grows_in_place(const value& list, std::size_t elements) noexcept;
/// Amortised constant time when `list` owns the edge of its storage, a copy otherwise.
[[nodiscard]] value list_push_front(heap& memory, value item, value list);
[[nodiscard]] value list_push_back(heap& memory, value list, value item);
[[nodiscard]] value list_concat(heap& memory, value left, std::span<const value> right);
/// Elements [from, to) in constant time; the caller has checked the bounds. They share the storage,
/// unless they are few and it is large.
[[nodiscard]] value list_slice(const value& list, std::size_t from, std::size_t to);

} // namespace heddle::lang
