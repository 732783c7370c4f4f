// File systems that refuse to synchronize, in the process of a test. Included once per program.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace heddle::testing {

inline std::atomic<int> sync_refusal{0}; ///< an errno; 0: the system decides

/// Lets fsync() and fdatasync() of this process fail with an error.
class refused_sync {
public:
    explicit refused_sync(int with) noexcept { sync_refusal = with; }
    ~refused_sync() { sync_refusal = 0; }
    refused_sync(const refused_sync&) = delete;
    refused_sync& operator=(const refused_sync&) = delete;
};

inline int refuse_or(long number, int file) noexcept {
    if (const int refusal = sync_refusal) {
        errno = refusal;
        return -1;
    }
    return static_cast<int>(::syscall(number, file));
}

} // namespace heddle::testing

// In place of those of libc.
extern "C" int fsync(int file) { return heddle::testing::refuse_or(SYS_fsync, file); }
extern "C" int fdatasync(int file) { return heddle::testing::refuse_or(SYS_fdatasync, file); }
