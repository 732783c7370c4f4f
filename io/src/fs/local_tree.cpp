#include <heddle/fs/local_tree.hpp>

#include "confined_path.hpp"
#include "directory_entries.hpp"

#include <heddle/fs/descriptor.hpp>
#include <heddle/fs/replacement_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <fcntl.h>
#include <sys/stat.h>

namespace heddle::fs {

namespace {

constexpr std::size_t piece_size = 1024 * 1024;

[[nodiscard]] ports::entry_kind kind_of(mode_t mode) noexcept {
    if (S_ISREG(mode)) return ports::entry_kind::file;
    if (S_ISDIR(mode)) return ports::entry_kind::folder;
    return S_ISLNK(mode) ? ports::entry_kind::link : ports::entry_kind::other;
}

result<descriptor> open_regular(const std::string& file, struct stat& about) {
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    descriptor opened(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!opened.open()) {
        const int number = errno;
        if (number == ELOOP && ::lstat(file.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) {
            return error(errc::invalid_argument,
                         "\"" + file + "\" is a symbolic link, and links are not followed here")
                .with_hint("name the file itself");
        }
        return file_error(number, "read", file);
    }
    if (::fstat(opened.get(), &about) != 0) return file_error(errno, "read", file);
    if (!S_ISREG(about.st_mode)) {
        return error(errc::invalid_argument, "\"" + file + "\" is not a regular file");
    }
    if (is_made_by_kernel(opened.get())) return made_by_kernel(file);
    return opened;
}

class local_tree final : public ports::tree_port {
public:
    result<std::string> resolve(const std::string& path) const override {
        const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                               &std::free);
        if (!real) return file_error(errno, "find", path);
        return std::string(real.get());
    }

    result<std::vector<ports::tree_entry>> list(const std::string& folder,
                                                std::size_t max_entries) const override {
        std::vector<ports::tree_entry> found;
        const take_entry take = [&found](int directory, const dirent& entry) -> result<bool> {
            struct stat about {};
            // Gone since: as if it had never been there.
            if (::fstatat(directory, entry.d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) return false;
            ports::tree_entry one;
            one.name = entry.d_name;
            one.kind = kind_of(about.st_mode);
            one.bytes = static_cast<std::uint64_t>(std::max<off_t>(about.st_size, 0));
            one.modified_ns =
                std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec;
            found.push_back(std::move(one));
            return true;
        };
        HEDDLE_CHECK(for_each_entry(AT_FDCWD, folder, folder, max_entries, take));
        std::sort(found.begin(), found.end(),
                  [](const auto& left, const auto& right) { return left.name < right.name; });
        return found;
    }

    result<std::string> beginning(const std::string& file, std::size_t bytes) const override {
        struct stat about {};
        HEDDLE_TRY(const descriptor opened, open_regular(file, about));
        std::string text(bytes, '\0');
        std::size_t have = 0;
        while (have < bytes) {
            const ssize_t count = ::read(opened.get(), text.data() + have, bytes - have);
            if (count < 0 && errno != EINTR) return file_error(errno, "read", file);
            if (count == 0) break;
            have += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
        }
        text.resize(have);
        return text;
    }

    result<std::string> read(const std::string& file, std::size_t max_bytes) const override {
        struct stat about {};
        HEDDLE_TRY(const descriptor opened, open_regular(file, about));
        const auto announced = static_cast<std::size_t>(std::max<off_t>(about.st_size, 0));
        std::string bytes;
        for (;;) {
            if (announced > max_bytes || bytes.size() > max_bytes) {
                return error(errc::limit_exceeded, "\"" + file + "\" is larger than " +
                                                       std::to_string(max_bytes) + " bytes");
            }
            const std::size_t have = bytes.size();
            // One byte more than announced, so that the end shows in the same read.
            const std::size_t want = have <= announced ? announced + 1 - have : 4096;
            bytes.resize(have + std::min(want, piece_size));
            const ssize_t count = ::read(opened.get(), bytes.data() + have, bytes.size() - have);
            if (count < 0 && errno != EINTR) return file_error(errno, "read", file);
            bytes.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
            if (count == 0) return bytes;
        }
    }

    result<void> replace(const std::string& file, std::string_view bytes) const override {
        replacement_file fresh(file, 0666);
        // Without sync() a crash of the machine could leave the new name with no content.
        if (!fresh.is_open() || !fresh.write(bytes) || !fresh.sync() || !fresh.take_place()) {
            return file_error(errno, "write", file);
        }
        return {};
    }
};

} // namespace

std::shared_ptr<const ports::tree_port> make_local_tree() { return std::make_shared<local_tree>(); }

} // namespace heddle::fs
