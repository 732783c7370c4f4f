#include "given_back.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace heddle::lang {

void discard_pages(void* block, std::size_t bytes) noexcept {
    static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    // What shares its page with another block stays.
    const auto begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) / page * page;
    const auto end = (reinterpret_cast<std::uintptr_t>(block) + bytes) / page * page;
    if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

} // namespace heddle::lang
