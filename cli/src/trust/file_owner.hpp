// Who may change a file of settings.
#pragma once

#include <heddle/base/error.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

namespace heddle::cli {

/// An entry of an access control list: more than owner, group and others (POSIX.1e, acl(5)).
struct acl_entry {
    enum class holder : std::uint8_t { owner, user, owning_group, group, mask, others };

    holder who = holder::owner;
    bool may_write = false;
    id_t id = 0; ///< of a user or a group
};

/// How check_owners looks at the system.
struct owner_view {
    /// As ::lstat; 0 on success.
    std::function<int(const char* path, struct stat* about)> look_at;
    /// The list of a file or folder, empty where it has none; 0 on success, else errno says why
    /// not.
    std::function<int(const char* path, std::vector<acl_entry>* entries)> list_of;
    /// What a symbolic link holds; 0 on success, else errno says why not.
    std::function<int(const char* path, std::string* target)> target_of;
    /// Whether a group holds nobody but the user and root.
    std::function<bool(gid_t group)> is_own_group;

    /// The system itself.
    [[nodiscard]] static owner_view of_system(uid_t user);
};

/// Whether nobody but `user` and root is in a group: it has the user's name, or that of root where
/// the user is root, no other members, and is no other user's primary group; one that has no entry
/// holds the user whose number it has.
[[nodiscard]] bool is_private_group(gid_t group, uid_t user);

/// Whether nobody but `user` and root can put something else where `path` is: it, every folder on
/// the way and every symbolic link, followed one at a time, belong to one of the two, and nobody
/// else may write to them, neither everybody nor a group with others in it nor whom an access
/// control list names. A folder of root's in which names stay with their owners (sticky) is /tmp or
/// the like: what lies in it counts for itself. `path` is absolute. Result: the same file by a path
/// without links, which nobody else can make another one from now on: the check begins at the root,
/// and each step is one that the steps before have made safe.
/// Errors: invalid_argument naming the first that is another's, and whose; io_error.
[[nodiscard]] result<std::string> check_owners(const std::string& path, uid_t user,
                                               const owner_view& view);
/// The same for the user of this process.
[[nodiscard]] result<std::string> check_owners(const std::string& path);

/// The whole of a file that nobody but `user` and root can change: checked as by check_owners, and
/// once more when it is open. Errors: invalid_argument as above; else as read_input_file.
[[nodiscard]] result<std::string> read_own_file(const std::string& path, std::size_t max_bytes,
                                                uid_t user, const owner_view& view);
/// The same for the user of this process.
[[nodiscard]] result<std::string> read_own_file(const std::string& path, std::size_t max_bytes);

} // namespace heddle::cli
