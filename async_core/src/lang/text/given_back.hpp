// Memory that goes back to the system in portions.
#pragma once

#include <heddle/lang/work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace heddle::lang {

/// Returns the pages of a block that is about to be freed to the system. Its content is lost.
void discard_pages(void* block, std::size_t bytes) noexcept;

/// As above, in portions: to free 100 MB at once takes 10 ms on some machines. The block itself is
/// still to be freed, with what is left of it where `pause` has returned false. Small blocks stay
/// as they are. `pause`: called after each mebibyte; returns whether to continue. Does not throw.
template <class Pause>
void give_back_in_portions(void* block, std::size_t bytes, Pause&& pause) {
    constexpr std::size_t small = std::size_t{8} << 20;
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::size_t at = 0; bytes >= small && at < bytes; at += piece) {
        discard_pages(static_cast<std::byte*>(block) + at, std::min(piece, bytes - at));
        if (!pause()) return;
    }
}

/// The same, in portions of work.
inline void give_back_pages(void* block, std::size_t bytes, work_meter& work) noexcept {
    constexpr std::uint64_t work_of_piece = 10'000; // 0.1 ms
    give_back_in_portions(block, bytes,
                          [&work] { return !work.stopped() && work.spend(work_of_piece); });
}

/// The same, of a vector or string of plain data that is not used any more.
template <class Container>
void give_back_pages_of(Container& content, work_meter& work) noexcept {
    give_back_pages(content.data(), content.capacity() * sizeof(typename Container::value_type),
                    work);
}

} // namespace heddle::lang
