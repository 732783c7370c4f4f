#include "given_back.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstdint>

namespace heddle::lang {

namespace {

constexpr std::size_t small = std::size_t{8} << 20;
constexpr std::size_t piece = std::size_t{1} << 20;
constexpr std::uint64_t work_of_piece = 10'000; ///< 0.1 ms

} // namespace

void discard_pages(void* block, std::size_t bytes) noexcept {
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    // What shares its page with another block stays.
    const auto begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(block) + bytes) / page * page;
    if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void give_back_pages(void* block, std::size_t bytes, work_meter& work) noexcept {
    if (bytes < small) return;
    for (std::size_t at = 0; at < bytes; at += piece) {
        discard_pages(static_cast<std::byte*>(block) + at, std::min(piece, bytes - at));
        if (work.stopped() || !work.spend(work_of_piece)) return;
    }
}

} // namespace heddle::lang
