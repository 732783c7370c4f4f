#include "trust/file_owner.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <pwd.h>
#include <unistd.h>

namespace heddle::cli {

namespace {

constexpr uid_t root = 0;

std::string name_of(uid_t user) {
    constexpr std::size_t usual_entry = 4096;
    std::string room(usual_entry, '\0');
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
        return std::string("user ") + found->pw_name;
    }
    return "user number " + std::to_string(user);
}

error cannot_look(const std::string& path, int number) {
    return error(errc::io_error, path + ": " + std::generic_category().message(number));
}

} // namespace

result<void> check_owners(const std::string& path, uid_t user, const stat_function& look_at) {
    for (std::filesystem::path at(path);; at = at.parent_path()) {
        struct stat about {};
        if (look_at(at.c_str(), &about) != 0) return cannot_look(at.string(), errno);
        if (about.st_uid != user && about.st_uid != root) {
            return error(errc::invalid_argument,
                         at.string() + " belongs to " + name_of(about.st_uid));
        }
        const bool shared_by_root = about.st_uid == root && S_ISDIR(about.st_mode);
        const bool others_write = (about.st_mode & S_IWOTH) != 0 && !S_ISLNK(about.st_mode);
        if (others_write && !shared_by_root) {
            return error(errc::invalid_argument, "everybody may write to " + at.string());
        }
        if (!at.has_relative_path()) return {};
    }
}

result<void> check_owners(const std::string& path) {
    HEDDLE_CHECK(check_owners(path, ::geteuid(), &::lstat));
    std::error_code failed;
    const std::string real = std::filesystem::canonical(path, failed).string();
    if (failed) return cannot_look(path, failed.value());
    return real == path ? result<void>() : check_owners(real, ::geteuid(), &::lstat);
}

} // namespace heddle::cli
