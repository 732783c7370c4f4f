#include "file_work.hpp"

#include "directory_entries.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/fs/replacement_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heddle::fs {

namespace {

constexpr std::size_t piece_size = 256 * 1024; // between looks at the abandon flag

error abandoned_error() { return error::cancelled(cancel_reason::user); }

error too_large(const std::string& path, std::size_t limit) {
    return error(errc::limit_exceeded,
                 "\"" + path + "\" is larger than " + std::to_string(limit) + " bytes")
        .with_hint("split it into smaller files")
        .with_retryable(false);
}

error not_a_file(const std::string& path, mode_t mode) {
    return error(errc::invalid_argument,
                 "\"" + path + "\" is " + (S_ISDIR(mode) ? "a directory" : "not a regular file"))
        .with_retryable(false);
}

bool is_directory(const workspace_root& root, int directory, const std::string& path,
                  const dirent& entry) {
    if (entry.d_type == DT_DIR) return true;
    struct stat about {};
    if (entry.d_type == DT_LNK) {
        const auto target = resolve(root, (path.empty() ? "." : path) + "/" + entry.d_name);
        return target &&
               ::fstatat(target->directory.get(), target->name.c_str(), &about,
                         AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISDIR(about.st_mode);
    }
    if (entry.d_type != DT_UNKNOWN) return false;
    return ::fstatat(directory, entry.d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(about.st_mode);
}

} // namespace

result<std::string> read_file(const workspace_root& root, const std::string& path,
                              std::size_t max_bytes, const abandon_flag& abandoned) {
    HEDDLE_TRY(const resolved_path place, resolve(root, path));
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    const descriptor file(::openat(place.directory.get(), place.name.c_str(),
                                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file.open()) return file_error(errno, "read", path);
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) return file_error(errno, "read", path);
    if (!S_ISREG(about.st_mode)) return not_a_file(path, about.st_mode);
    if (is_made_by_kernel(file.get())) return made_by_kernel(path);
    const auto announced = static_cast<std::size_t>(std::max<off_t>(about.st_size, 0));
    if (announced > max_bytes) return too_large(path, max_bytes);
    std::string text;
    // One byte more than announced, so that the end shows in the same read.
    std::size_t want = announced + 1;
    for (;;) {
        if (abandoned.load(std::memory_order_relaxed)) return abandoned_error();
        const std::size_t have = text.size();
        text.resize(have + std::clamp<std::size_t>(want, 4096, piece_size));
        const ssize_t count = ::read(file.get(), text.data() + have, text.size() - have);
        if (count < 0 && errno != EINTR) return file_error(errno, "read", path);
        text.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
        if (count == 0) break;
        if (text.size() > max_bytes) return too_large(path, max_bytes); // it grew meanwhile
        want = text.size() < announced + 1 ? announced + 1 - text.size() : 4096;
    }
    if (!utf8::is_valid(text)) {
        return error(errc::invalid_argument, "\"" + path + "\" is not UTF-8 text")
            .with_retryable(false);
    }
    return text;
}

result<void> write_file(const workspace_root& root, const std::string& path,
                        const std::string& text, const abandon_flag& abandoned) {
    HEDDLE_TRY(const resolved_path place, resolve(root, path));
    struct stat about {};
    const bool replaces =
        ::fstatat(place.directory.get(), place.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (replaces && !S_ISREG(about.st_mode)) return not_a_file(path, about.st_mode);
    replacement_file fresh(place.name, 0666, place.directory.get());
    if (!fresh.is_open()) return file_error(errno, "write", path);
    if (replaces && !fresh.set_mode(about.st_mode & 07777)) return file_error(errno, "write", path);
    for (std::string_view rest = text; !rest.empty();) {
        if (abandoned.load(std::memory_order_relaxed)) return abandoned_error();
        const std::size_t count = std::min(piece_size, rest.size());
        if (!fresh.write(rest.substr(0, count))) return file_error(errno, "write", path);
        rest.remove_prefix(count);
    }
    // Without this a crash of the machine could leave the new name with no content.
    if (!fresh.sync()) return file_error(errno, "write", path);
    if (abandoned.load(std::memory_order_relaxed)) return abandoned_error();
    if (!fresh.take_place()) return file_error(errno, "write", path);
    return {};
}

result<bool> file_exists(const workspace_root& root, const std::string& path) {
    const auto place = resolve(root, path);
    if (!place) {
        if (place.error().code() == make_error_code(errc::not_found)) return false;
        return place.error();
    }
    struct stat about {};
    if (::fstatat(place->directory.get(), place->name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    if (errno == ENOENT) return false;
    return file_error(errno, "look at", path);
}

result<std::vector<std::string>> list_directory(const workspace_root& root, const std::string& path,
                                                std::size_t max_entries,
                                                const abandon_flag& abandoned) {
    HEDDLE_TRY(const resolved_path place, resolve(root, path));
    std::vector<std::string> names;
    const take_entry take = [&](int directory, const dirent& entry) -> result<bool> {
        if (abandoned.load(std::memory_order_relaxed)) return abandoned_error();
        std::string name = entry.d_name;
        if (is_directory(root, directory, path, entry)) name += '/';
        names.push_back(std::move(name));
        return true;
    };
    HEDDLE_CHECK(for_each_entry(place.directory.get(), place.name, path, max_entries, take));
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace heddle::fs
