// Who may change a file of settings.
#pragma once

#include <heddle/base/error.hpp>

#include <functional>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

namespace heddle::cli {

/// As ::lstat; 0 on success.
using stat_function = std::function<int(const char* path, struct stat* about)>;

/// Whether a group holds nobody but the user.
using group_function = std::function<bool(gid_t group)>;

/// Whether nobody but `user` and root can put something else where `path` is: it and every folder
/// on the way belong to one of the two, and nobody else may write to them, neither everybody nor a
/// group with others in it. A folder of root's in which names stay with their owners (sticky) is
/// /tmp or the like: what lies in it counts for itself. Of a link the owner counts; where it leads
/// to is another path. `path` is absolute, its folder without links. Errors: invalid_argument
/// naming the first that is another's, and whose; io_error.
[[nodiscard]] result<void> check_owners(const std::string& path, uid_t user,
                                        const stat_function& look_at,
                                        const group_function& is_own_group);
/// The same for the user of this process, and for where a link leads to.
[[nodiscard]] result<void> check_owners(const std::string& path);

} // namespace heddle::cli
