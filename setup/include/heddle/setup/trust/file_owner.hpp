// Checks who can change a file of settings.
#pragma once

#include <heddle/base/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

namespace heddle::setup {

/// An entry of an access control list: more than owner, group and others (POSIX.1e, acl(5)).
struct acl_entry {
    enum class holder : std::uint8_t { owner, user, owning_group, group, mask, others };

    holder who = holder::owner;
    bool may_write = false;
    id_t id = 0; ///< of a user or a group
};

/// The interface of check_owners to the system.
struct owner_view {
    /// As ::lstat; 0 on success.
    std::function<int(const char* path, struct stat* about)> look_at;
    /// The access control list of a file or folder, empty if it has none; 0 on success, else errno
    /// is set.
    std::function<int(const char* path, std::vector<acl_entry>* entries)> list_of;
    /// The target of a symbolic link; 0 on success, else errno is set.
    std::function<int(const char* path, std::string* target)> target_of;
    /// Whether a group has no members except the user and root.
    std::function<bool(gid_t group)> is_own_group;

    /// The system itself.
    [[nodiscard]] static owner_view of_system(uid_t user);
};

/// Whether a group has no members except `user` and root: it has the name of the user, or of root
/// if the user is root, no other members, and is not the primary group of another user. A group
/// without an entry belongs to the user with its number.
[[nodiscard]] bool is_private_group(gid_t group, uid_t user);

/// Checks that only `user` and root can replace what is at `path`: it, every folder on the way and
/// every symbolic link, followed one at a time, belong to one of the two, and no others may write
/// to them, by permissions for all, by a group with other members, or by an access control list. A
/// sticky folder of root, such as /tmp, is accepted: its entries are checked themselves. `path` is
/// absolute. Result: the same file by a path without links, which no other user can redirect from
/// now on, because the check begins at the root and each step relies on the steps before.
/// Errors: invalid_argument naming the first path that another user can change, and that user;
/// io_error.
[[nodiscard]] result<std::string> check_owners(const std::string& path, uid_t user,
                                               const owner_view& view);
/// The same for the user of this process.
[[nodiscard]] result<std::string> check_owners(const std::string& path);

/// The whole of a file that only `user` and root can change: checked as by check_owners, and again
/// once it is open. Errors: invalid_argument as above; else as read_input_file.
[[nodiscard]] result<std::string> read_own_file(const std::string& path, std::size_t max_bytes,
                                                uid_t user, const owner_view& view);
/// The same for the user of this process.
[[nodiscard]] result<std::string> read_own_file(const std::string& path, std::size_t max_bytes);

} // namespace heddle::setup
