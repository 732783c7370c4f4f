#include "trust/file_owner.hpp"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

constexpr uid_t root = 0;

constexpr gid_t root_group = 0;
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

/// A group as most systems make one for each user: of the same name, and with nobody else in it.
/// The one of root is as good as root; one that has no entry holds the user whose number it has.
bool is_private_group(gid_t group, uid_t user) {
    if (group == root_group) return true;
    std::string room(room_of_entry, '\0');
    struct group entry {};
    struct group* found = nullptr;
    if (::getgrgid_r(group, &entry, room.data(), room.size(), &found) != 0) return false;
    if (found == nullptr) return group == user;
    const std::string name = name_of_user(user);
    if (name != found->gr_name) return false;
    for (char** member = found->gr_mem; *member != nullptr; ++member) {
        if (name != std::string_view(*member)) return false;
    }
    return true;
}

std::string shown_group(gid_t group) {
    std::string room(room_of_entry, '\0');
    struct group entry {};
    struct group* found = nullptr;
    const int failed = ::getgrgid_r(group, &entry, room.data(), room.size(), &found);
    if (failed == 0 && found != nullptr) return std::string("group ") + found->gr_name;
    return "group number " + std::to_string(group);
}

error cannot_look(const std::string& path, int number) {
    return error(errc::io_error, path + ": " + std::generic_category().message(number));
}

} // namespace

result<void> check_owners(const std::string& path, uid_t user, const stat_function& look_at,
                          const group_function& is_own_group) {
    const auto refused = [](std::string why) {
        return error(errc::invalid_argument, std::move(why));
    };
    for (std::filesystem::path at(path);; at = at.parent_path()) {
        struct stat about {};
        if (look_at(at.c_str(), &about) != 0) return cannot_look(at.string(), errno);
        if (about.st_uid != user && about.st_uid != root) {
            return refused(at.string() + " belongs to " + shown_user(about.st_uid));
        }
        const bool shared_by_root =
            about.st_uid == root && S_ISDIR(about.st_mode) && (about.st_mode & S_ISVTX) != 0;
        const mode_t mode = S_ISLNK(about.st_mode) || shared_by_root ? 0 : about.st_mode;
        if ((mode & S_IWOTH) != 0) return refused("everybody may write to " + at.string());
        if ((mode & S_IWGRP) != 0 && !is_own_group(about.st_gid)) {
            return refused(shown_group(about.st_gid) + " may write to " + at.string());
        }
        if (!at.has_relative_path()) return {};
    }
}

result<void> check_owners(const std::string& path) {
    const uid_t user = ::geteuid();
    const auto is_own = [user](gid_t group) { return is_private_group(group, user); };
    HEDDLE_CHECK(check_owners(path, user, &::lstat, is_own));
    std::error_code failed;
    const std::string real = std::filesystem::canonical(path, failed).string();
    if (failed) return cannot_look(path, failed.value());
    return real == path ? result<void>() : check_owners(real, user, &::lstat, is_own);
}

} // namespace heddle::cli
