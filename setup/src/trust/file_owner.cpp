#include <heddle/setup/trust/file_owner.hpp>

#include <heddle/setup/input_files.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <grp.h>
#include <pwd.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace heddle::setup {

namespace {

constexpr uid_t root = 0;
constexpr std::size_t room_of_entry = 64 * 1024;

/// Empty: there is no such user.
std::string name_of_user(uid_t user) {
    std::string room(room_of_entry, '\0');
    passwd entry{};
    passwd* found = nullptr;
    const int failed = ::getpwuid_r(user, &entry, room.data(), room.size(), &found);
    return failed == 0 && found != nullptr ? found->pw_name : "";
}

std::string shown_user(uid_t user) {
    const std::string name = name_of_user(user);
    return name.empty() ? "user number " + std::to_string(user) : "user " + name;
}

/// Members of a group have no entry in it when it is the first of their own.
bool is_first_group_of_another(gid_t group, uid_t user) {
    std::string room(room_of_entry, '\0');
    passwd entry{};
    passwd* found = nullptr;
    bool another = false;
    ::setpwent();
    while (!another && ::getpwent_r(&entry, room.data(), room.size(), &found) == 0 && found) {
        another = found->pw_gid == group && found->pw_uid != user && found->pw_uid != root;
    }
    ::endpwent();
    return another;
}

std::string shown_group(gid_t group) {
    std::string room(room_of_entry, '\0');
    struct group entry {};
    struct group* found = nullptr;
    const int failed = ::getgrgid_r(group, &entry, room.data(), room.size(), &found);
    if (failed == 0 && found != nullptr) return std::string("group ") + found->gr_name;
    return "group number " + std::to_string(group);
}

/// See linux/posix_acl_xattr.h, which not every system has: the version, then entries of tag,
/// permissions and number. All in the byte order of small ends first.
constexpr const char* name_of_list = "system.posix_acl_access";
constexpr std::size_t bytes_of_version = 4;
constexpr std::size_t bytes_of_entry = 8;
constexpr std::uint32_t known_version = 2;

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
    std::uint32_t result = 0;
    for (std::size_t i = size; i-- > 0;) {
        result = result << 8 | static_cast<unsigned char>(bytes[at + i]);
    }
    return result;
}

bool read_entries(std::string_view bytes, std::vector<acl_entry>& into) {
    using holder = acl_entry::holder;
    if (bytes.size() < bytes_of_version || bytes.size() % bytes_of_entry != bytes_of_version) {
        return false;
    }
    if (number_at(bytes, 0, 4) != known_version) return false;
    constexpr std::uint32_t write = 2;
    for (std::size_t at = bytes_of_version; at < bytes.size(); at += bytes_of_entry) {
        acl_entry entry;
        switch (number_at(bytes, at, 2)) {
        case 0x01: entry.who = holder::owner; break;
        case 0x02: entry.who = holder::user; break;
        case 0x04: entry.who = holder::owning_group; break;
        case 0x08: entry.who = holder::group; break;
        case 0x10: entry.who = holder::mask; break;
        case 0x20: entry.who = holder::others; break;
        default: return false;
        }
        entry.may_write = (number_at(bytes, at + 2, 2) & write) != 0;
        entry.id = number_at(bytes, at + 4, 4);
        into.push_back(entry);
    }
    return true;
}

/// `get` reads the attribute into a buffer, as ::lgetxattr does.
template <class Get>
int read_list_with(const Get& get, std::vector<acl_entry>* entries) {
    std::string bytes(64 * 1024, '\0'); // the longest value of an attribute
    const ssize_t size = get(bytes.data(), bytes.size());
    if (size < 0) return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -1;
    if (read_entries(std::string_view(bytes).substr(0, static_cast<std::size_t>(size)), *entries))
        return 0;
    errno = EPROTO; // a list that is not understood may allow anything
    return -1;
}

int read_list(const char* path, std::vector<acl_entry>* entries) {
    return read_list_with(
        [path](char* into, std::size_t room) {
            return ::lgetxattr(path, name_of_list, into, room);
        },
        entries);
}

int read_list_of_open(int file, std::vector<acl_entry>* entries) {
    return read_list_with(
        [file](char* into, std::size_t room) {
            return ::fgetxattr(file, name_of_list, into, room);
        },
        entries);
}

int read_target(const char* path, std::string* target) {
    std::array<char, PATH_MAX> room;
    const ssize_t size = ::readlink(path, room.data(), room.size());
    if (size < 0) return -1;
    target->assign(room.data(), static_cast<std::size_t>(size));
    return 0;
}

/// The first in a list who may write and is neither `user` nor root; empty: there is none.
std::string stranger_in(const std::vector<acl_entry>& list, gid_t owning_group, uid_t user,
                        const owner_view& view) {
    using holder = acl_entry::holder;
    const bool masked = std::any_of(list.begin(), list.end(), [](const acl_entry& each) {
        return each.who == holder::mask && !each.may_write;
    });
    for (const acl_entry& each : list) {
        if (!each.may_write) continue;
        switch (each.who) {
        case holder::owner:
        case holder::mask: break;
        case holder::user:
            if (!masked && each.id != user && each.id != root) return shown_user(each.id);
            break;
        case holder::owning_group:
            if (!masked && !view.is_own_group(owning_group)) return shown_group(owning_group);
            break;
        case holder::group:
            if (!masked && !view.is_own_group(each.id)) return shown_group(each.id);
            break;
        case holder::others: return "everybody";
        }
    }
    return {};
}

/// The same for the bits of a mode, which stand for the list where there is none.
std::vector<acl_entry> list_of_mode(mode_t mode) {
    using holder = acl_entry::holder;
    return {{holder::others, (mode & S_IWOTH) != 0, 0},
            {holder::owning_group, (mode & S_IWGRP) != 0, 0}};
}

error cannot_look(const std::string& path, int number) {
    return error(errc::io_error, path + ": " + std::generic_category().message(number));
}

error refused(std::string why) { return {errc::invalid_argument, std::move(why)}; }

result<void> check_owner(const std::string& path, const struct stat& about, uid_t user) {
    if (about.st_uid == user || about.st_uid == root) return {};
    return refused(path + " belongs to " + shown_user(about.st_uid));
}

/// `list`: empty where there is none.
result<void> check_writers(const std::string& path, const struct stat& about,
                           const std::vector<acl_entry>& list, uid_t user, const owner_view& view) {
    // With a list the bits of the group are its mask.
    const std::string stranger =
        stranger_in(list.empty() ? list_of_mode(about.st_mode) : list, about.st_gid, user, view);
    return stranger.empty() ? result<void>() : refused(stranger + " may write to " + path);
}

/// Looks at one name, whose folder is safe. Result: what it is.
result<struct stat> check_name(const std::string& path, uid_t user, const owner_view& view) {
    struct stat about {};
    if (view.look_at(path.c_str(), &about) != 0) return cannot_look(path, errno);
    HEDDLE_CHECK(check_owner(path, about, user));
    const bool shared_by_root =
        about.st_uid == root && S_ISDIR(about.st_mode) && (about.st_mode & S_ISVTX) != 0;
    if (S_ISLNK(about.st_mode) || shared_by_root) return about;
    std::vector<acl_entry> list;
    if (view.list_of(path.c_str(), &list) != 0) return cannot_look(path, errno);
    HEDDLE_CHECK(check_writers(path, about, list, user, view));
    return about;
}

/// Puts the names of `path` before those that are left, which are in backward order.
void add_names(const std::filesystem::path& path, std::vector<std::string>& left) {
    const std::size_t before = left.size();
    for (const auto& each : path.relative_path()) left.push_back(each.string());
    std::reverse(left.begin() + static_cast<std::ptrdiff_t>(before), left.end());
}

} // namespace

bool is_private_group(gid_t group, uid_t user) {
    std::string room(room_of_entry, '\0');
    struct group entry {};
    struct group* found = nullptr;
    if (::getgrgid_r(group, &entry, room.data(), room.size(), &found) != 0) return false;
    if (found == nullptr) return group == user && !is_first_group_of_another(group, user);
    const std::string name = name_of_user(user);
    if (name != found->gr_name) return false;
    for (char** member = found->gr_mem; *member != nullptr; ++member) {
        if (name != std::string_view(*member)) return false;
    }
    return !is_first_group_of_another(group, user);
}

owner_view owner_view::of_system(uid_t user) {
    return {&::lstat, &read_list, &read_target,
            [user](gid_t group) { return is_private_group(group, user); }};
}

result<std::string> check_owners(const std::string& path, uid_t user, const owner_view& view) {
    constexpr int max_links = 40; // as the kernel has it
    int links = 0;
    std::filesystem::path reached("/");
    HEDDLE_CHECK(check_name(reached.string(), user, view));
    std::vector<std::string> left;
    add_names(path, left);
    while (!left.empty()) {
        const std::string name = std::move(left.back());
        left.pop_back();
        if (name.empty() || name == ".") continue;
        if (name == "..") {
            reached = reached.parent_path();
            continue;
        }
        const std::string at = (reached / name).string();
        HEDDLE_TRY(const struct stat about, check_name(at, user, view));
        if (!S_ISLNK(about.st_mode)) {
            reached /= name;
            continue;
        }
        if (++links > max_links) return cannot_look(path, ELOOP);
        std::string target;
        if (view.target_of(at.c_str(), &target) != 0) return cannot_look(at, errno);
        if (target.starts_with('/')) reached = "/";
        add_names(target, left);
    }
    return reached.string();
}

result<std::string> check_owners(const std::string& path) {
    const uid_t user = ::geteuid();
    return check_owners(path, user, owner_view::of_system(user));
}

result<std::string> read_own_file(const std::string& path, std::size_t max_bytes, uid_t user,
                                  const owner_view& view) {
    HEDDLE_TRY(const std::string real, check_owners(path, user, view));
    return read_checked_file(real, max_bytes,
                             [&](int file, const struct stat& about) -> result<void> {
                                 HEDDLE_CHECK(check_owner(real, about, user));
                                 std::vector<acl_entry> list;
                                 if (read_list_of_open(file, &list) != 0)
                                     return cannot_look(real, errno);
                                 return check_writers(real, about, list, user, view);
                             });
}

result<std::string> read_own_file(const std::string& path, std::size_t max_bytes) {
    const uid_t user = ::geteuid();
    return read_own_file(path, max_bytes, user, owner_view::of_system(user));
}

} // namespace heddle::setup
