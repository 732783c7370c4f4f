#include "directory_entries.hpp"

#include <cerrno>
#include <memory>
#include <string_view>

#include <fcntl.h>

namespace heddle::fs {

result<void> for_each_entry(int parent, const std::string& name, const std::string& path,
                            std::size_t max_entries, const take_entry& take) {
    descriptor opened(
        ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!opened.open()) return file_error(errno, "list", path);
    if (is_made_by_kernel(opened.get())) return made_by_kernel(path);
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(opened.get()), &::closedir);
    if (!directory) return file_error(errno, "list", path);
    (void)opened.release(); // closed by closedir
    for (std::size_t count = 0;;) {
        errno = 0;
        const dirent* entry = ::readdir(directory.get());
        if (entry == nullptr) {
            if (errno != 0) return file_error(errno, "list", path);
            return {};
        }
        const std::string_view found = entry->d_name;
        if (found == "." || found == "..") continue;
        if (count == max_entries) {
            return error(errc::limit_exceeded, "\"" + path + "\" has more than " +
                                                   std::to_string(max_entries) + " entries")
                .with_retryable(false);
        }
        HEDDLE_TRY(const bool counts, take(::dirfd(directory.get()), *entry));
        if (counts) ++count;
    }
}

} // namespace heddle::fs
