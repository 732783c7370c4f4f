#include <heddle/fs/sync_file.hpp>

#include <heddle/fs/descriptor.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

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

bool sync_folder_of(const std::string& file) {
    const std::filesystem::path above = std::filesystem::path(file).parent_path();
    const descriptor folder(
        ::open(above.empty() ? "." : above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.open()) return errno == EACCES;
    return sync_file(folder.get());
}

} // namespace heddle::fs
