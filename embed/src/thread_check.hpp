// Mistakes of the host with threads, which end the program with the reason where NDEBUG is not set.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace heddle::embed {

#ifdef NDEBUG
inline constexpr bool checks_threads = false;
#else
inline constexpr bool checks_threads = true;
#endif

[[noreturn]] inline void end_for_mistake(const char* function, const char* mistake) {
    std::fprintf(stderr, "heddle: %s: %s\n", function, mistake);
    std::fflush(stderr);
    std::abort();
}

} // namespace heddle::embed
