#include "confined_path.hpp"

#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace heddle::fs {

namespace {

constexpr int max_links = 40; // as the kernel has it

std::string quoted(std::string_view path) { return "\"" + utf8::shortened(path, 300) + "\""; }

error leads_out(std::string_view path) {
    return error(errc::invalid_argument, quoted(path) + " leads out of the workspace")
        .with_hint("give a path relative to the workspace")
        .with_retryable(false);
}

/// The components still to be walked, the next one last.
class remaining_path {
public:
    void prepend(std::string_view path) {
        const std::size_t before = parts_.size();
        while (!path.empty()) {
            const std::size_t slash = path.find('/');
            const std::string_view part = path.substr(0, slash);
            if (!part.empty() && part != ".") parts_.emplace_back(part);
            path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
        }
        std::reverse(parts_.begin() + static_cast<std::ptrdiff_t>(before), parts_.end());
    }
    [[nodiscard]] bool empty() const noexcept { return parts_.empty(); }
    [[nodiscard]] std::string next() {
        std::string part = std::move(parts_.back());
        parts_.pop_back();
        return part;
    }

private:
    std::vector<std::string> parts_;
};

/// The part of an absolute path below the root, or nothing when it is elsewhere.
std::optional<std::string_view> below(const workspace_root& root, std::string_view absolute) {
    if (!absolute.starts_with(root.path)) return std::nullopt;
    absolute.remove_prefix(root.path.size());
    if (absolute.empty() || absolute.front() == '/' || root.path.empty()) return absolute;
    return std::nullopt;
}

} // namespace

bool is_made_by_kernel(int file) noexcept {
    constexpr std::array<std::uint32_t, 12> list{
        PROC_SUPER_MAGIC, SYSFS_MAGIC,    DEBUGFS_MAGIC,      TRACEFS_MAGIC,
        SECURITYFS_MAGIC, SELINUX_MAGIC,  CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
        PSTOREFS_MAGIC,   EFIVARFS_MAGIC, NSFS_MAGIC,         BPF_FS_MAGIC};
    struct statfs about {};
    if (::fstatfs(file, &about) != 0) return false;
    const auto kind = static_cast<std::uint32_t>(about.f_type);
    return std::find(list.begin(), list.end(), kind) != list.end();
}

error made_by_kernel(std::string_view path) {
    return error(errc::invalid_argument,
                 quoted(path) +
                     " is made up by the kernel (as /proc and /sys are), and no file of a "
                     "workspace")
        .with_retryable(false);
}

error file_error(int number, std::string_view action, std::string_view path) {
    const std::string what = "cannot " + std::string(action) + " " + quoted(path) + ": ";
    if (number == ENOENT) {
        return error(errc::not_found, what + "there is no such file or directory")
            .with_retryable(false);
    }
    if (number == ENOTDIR) {
        const bool itself = action == "list";
        return error(errc::not_found,
                     what + (itself ? "it is not a directory" : "a part of it is not a directory"))
            .with_retryable(false);
    }
    return error(errc::io_error, what + std::generic_category().message(number));
}

result<workspace_root> open_root(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (!real) return file_error(errno, "open the workspace", path);
    workspace_root root;
    root.path = real.get();
    if (root.path == "/") root.path.clear();
    root.directory = descriptor(::open(real.get(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root.directory.open()) return file_error(errno, "open the workspace", path);
    return root;
}

result<resolved_path> resolve(const workspace_root& root, std::string_view path) {
    if (path.find('\0') != std::string_view::npos) {
        return error(errc::invalid_argument, "a path holds a zero byte").with_retryable(false);
    }
    remaining_path rest;
    if (path.starts_with('/')) {
        const auto inside = below(root, path);
        if (!inside) return leads_out(path);
        rest.prepend(*inside);
    } else {
        rest.prepend(path);
    }
    std::vector<descriptor> walked; // below the root, innermost last
    const auto here = [&] { return walked.empty() ? root.directory.get() : walked.back().get(); };
    int links = 0;
    while (!rest.empty()) {
        const std::string part = rest.next();
        if (part == "..") {
            if (walked.empty()) return leads_out(path);
            walked.pop_back();
            continue;
        }
        std::array<char, PATH_MAX> link;
        const ssize_t length = ::readlinkat(here(), part.c_str(), link.data(), link.size());
        if (length >= 0) {
            const std::string_view target(link.data(), static_cast<std::size_t>(length));
            if (++links > max_links) return file_error(ELOOP, "resolve", path);
            if (!target.starts_with('/')) {
                rest.prepend(target);
                continue;
            }
            const auto inside = below(root, target);
            if (!inside) return leads_out(path);
            walked.clear();
            rest.prepend(*inside);
            continue;
        }
        if (errno != EINVAL && errno != ENOENT) return file_error(errno, "resolve", path);
        if (rest.empty()) {
            descriptor directory(walked.empty() ? ::fcntl(root.directory.get(), F_DUPFD_CLOEXEC, 0)
                                                : walked.back().release());
            if (!directory.open()) return file_error(errno, "resolve", path);
            if (is_made_by_kernel(directory.get())) return made_by_kernel(path);
            return resolved_path{std::move(directory), part};
        }
        // O_NOFOLLOW: a link that was put here since is an error, not a way out.
        descriptor next(
            ::openat(here(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!next.open()) return file_error(errno, "resolve", path);
        walked.push_back(std::move(next));
    }
    descriptor directory(::fcntl(here(), F_DUPFD_CLOEXEC, 0));
    if (!directory.open()) return file_error(errno, "resolve", path);
    if (is_made_by_kernel(directory.get())) return made_by_kernel(path);
    return resolved_path{std::move(directory), "."};
}

} // namespace heddle::fs
