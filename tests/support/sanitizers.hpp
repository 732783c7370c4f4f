// Whether a sanitizer watches the tests: g++ has macros for it, clang has features.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define HEDDLE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEDDLE_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HEDDLE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_THREAD_SANITIZER 1
#endif
#endif
#if defined(HEDDLE_ADDRESS_SANITIZER) || defined(HEDDLE_THREAD_SANITIZER)
#define HEDDLE_SANITIZED 1
#endif

namespace heddle::sanitizers {

#ifdef HEDDLE_SANITIZED
inline constexpr bool is_watching = true;
#else
inline constexpr bool is_watching = false;
#endif
/// For the generous bounds of tests that tell quadratic from linear time.
inline constexpr int slowed_down = is_watching ? 6 : 1;

} // namespace heddle::sanitizers
