#include <heddle/fs/sync_file.hpp>

#include <unistd.h>

#include <cerrno>

namespace heddle::fs {

namespace {

bool done(int (*sync)(int), int file) noexcept {
    int outcome = 0;
    do outcome = sync(file);
    while (outcome != 0 && errno == EINTR);
    // Of those that do not mean lost data, in fsync(2) and in what file systems return.
    return outcome == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
}

} // namespace

bool sync_file(int file) noexcept { return done(&::fsync, file); }
bool sync_data(int file) noexcept { return done(&::fdatasync, file); }

} // namespace heddle::fs
