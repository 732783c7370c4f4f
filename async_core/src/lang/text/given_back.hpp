// Memory that goes back to the system in portions.
#pragma once

#include <heddle/lang/work.hpp>

#include <cstddef>

namespace heddle::lang {

/// Returns the pages of a block that is about to be freed to the system. Its content is lost.
void discard_pages(void* block, std::size_t bytes) noexcept;

/// Returns the pages of a block that is about to be freed to the system, in portions of work.
/// To free 100 MB at once takes 10 ms on some machines. The content is lost; the block itself is
/// still to be freed. Small blocks are left as they are. Where the computation was stopped, the
/// rest goes when the block is freed.
void give_back_pages(void* block, std::size_t bytes, work_meter& work) noexcept;

/// As above, for a vector or string of plain data that is not used any more.
template <class Container>
void give_back_pages_of(Container& content, work_meter& work) noexcept {
    give_back_pages(content.data(), content.capacity() * sizeof(typename Container::value_type),
                    work);
}

} // namespace heddle::lang
