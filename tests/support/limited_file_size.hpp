// A disk that is full: writes beyond a size fail, in the process of a test.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace heddle::testing {

/// Lets write() beyond `bytes` of any file fail with EFBIG, after a short write up to there. A test
/// that holds it must not log to a file.
class limited_file_size {
public:
    explicit limited_file_size(rlim_t bytes) noexcept {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limited = before_;
        limited.rlim_cur = bytes;
        ::setrlimit(RLIMIT_FSIZE, &limited);
    }
    ~limited_file_size() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    limited_file_size(const limited_file_size&) = delete;
    limited_file_size& operator=(const limited_file_size&) = delete;

private:
    rlimit before_{};
    void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

} // namespace heddle::testing
