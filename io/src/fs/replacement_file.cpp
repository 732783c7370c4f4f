#include <heddle/fs/replacement_file.hpp>

#include <heddle/base/utf8.hpp>
#include <heddle/fs/sync_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace heddle::fs {

namespace {

/// Hidden, so that no list of the folder's files has it. Nobody can foresee it, so that no link
/// waits under that name.
std::string unfinished_name(std::string_view target) {
    constexpr std::size_t max_kept = 200; // bytes: a name has at most 255
    const std::size_t begin = target.rfind('/') + 1;
    std::string name(target.substr(0, begin));
    name += '.';
    name += utf8::prefix(target.substr(begin), max_kept);
    name += ".part-";
    std::random_device source;
    for (int i = 0; i < 12; ++i) name += "abcdefghijklmnopqrstuvwxyz234567"[source() % 32];
    return name;
}

} // namespace

bool write_all(int file, std::string_view bytes) noexcept {
    constexpr std::size_t piece_size = 1024 * 1024;
    while (!bytes.empty()) {
        const ssize_t count = ::write(file, bytes.data(), std::min(bytes.size(), piece_size));
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

replacement_file::replacement_file(std::string target, mode_t mode, int folder)
    : folder_(folder), target_(std::move(target)), name_(unfinished_name(target_)),
      file_(::openat(folder_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     mode)),
      is_unfinished_(file_.open()) {}

replacement_file::~replacement_file() {
    if (is_unfinished_) ::unlinkat(folder_, name_.c_str(), 0);
}

bool replacement_file::set_mode(mode_t mode) noexcept { return ::fchmod(file_.get(), mode) == 0; }

bool replacement_file::write(std::string_view bytes) noexcept {
    return write_all(file_.get(), bytes);
}

bool replacement_file::sync() noexcept { return sync_file(file_.get()); }

bool replacement_file::take_place() noexcept {
    // Some network file systems report only now that they could not write. Linux closes the file
    // also when a signal interrupts it.
    if (::close(file_.release()) != 0 && errno != EINTR) return false;
    if (::renameat(folder_, name_.c_str(), folder_, target_.c_str()) != 0) return false;
    is_unfinished_ = false;
    return true;
}

} // namespace heddle::fs
