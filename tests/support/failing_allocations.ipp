// The hooks of failing_allocations.hpp, for one source of a test program. Sanitizers have a malloc
// of their own: there only operator new fails.
#include <failing_allocations.hpp>
#include <sanitizers.hpp>

#include <cstdlib>
#include <new>

#ifdef HEDDLE_SANITIZED

void* operator new(std::size_t bytes) {
    if (heddle::testing::failing_allocations::next_fails()) throw std::bad_alloc();
    if (void* made = std::malloc(bytes != 0 ? bytes : 1)) return made;
    throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    if (heddle::testing::failing_allocations::next_fails()) return nullptr;
    return std::malloc(bytes != 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

#else

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);

void* malloc(std::size_t bytes) {
    return heddle::testing::failing_allocations::next_fails() ? nullptr : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    return heddle::testing::failing_allocations::next_fails() ? nullptr
                                                              : __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    return heddle::testing::failing_allocations::next_fails() ? nullptr
                                                              : __libc_realloc(memory, bytes);
}
}

#endif
