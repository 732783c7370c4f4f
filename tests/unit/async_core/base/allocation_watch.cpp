#include "allocation_watch.hpp"

#include <failing_allocations.hpp>

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

std::string_view wanted; // empty: nothing is looked for
int found_in_released = 0;

/// Looks into the memory of this program before it is given back.
void look_and_release(void* block) noexcept {
    if (block && !wanted.empty()) {
        const std::string_view bytes(static_cast<const char*>(block), malloc_usable_size(block));
        if (bytes.find(wanted) != std::string_view::npos) ++found_in_released;
    }
    std::free(block);
}

} // namespace

void* operator new(std::size_t size) {
    if (heddle::testing::failing_allocations::next_fails()) throw std::bad_alloc();
    // Filled, so that nothing is found of what was there before.
    void* const block = std::calloc(1, size == 0 ? 1 : size);
    if (!block) throw std::bad_alloc();
    return block;
}
// A sanitizer has one of its own, which does not call the one above.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    if (heddle::testing::failing_allocations::next_fails()) return nullptr;
    return std::calloc(1, size == 0 ? 1 : size);
}
void operator delete(void* block) noexcept { look_and_release(block); }
void operator delete(void* block, std::size_t) noexcept { look_and_release(block); }

namespace heddle::testing {

release_watch::release_watch(std::string_view text) noexcept {
    found_in_released = 0;
    wanted = text;
}
release_watch::~release_watch() { wanted = {}; }
int release_watch::found() const noexcept { return found_in_released; }

} // namespace heddle::testing
