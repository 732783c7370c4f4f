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

/// Whether nobody but `user` and root can put something else where `path` is: it and every folder on
/// the way belong to one of the two, and nobody else may write to them. A folder of root's that
/// everybody may write to is /tmp or the like: what lies in it counts for itself. Of a link the owner
/// counts; where it leads to is another path.
/// `path` is absolute, its folder without links. Errors: invalid_argument naming the first that is
/// another's, and whose; io_error.
[[nodiscard]] result<void> check_owners(const std::string& path, uid_t user,
                                        const stat_function& look_at);
/// The same for the user of this process, and for where a link leads to.
[[nodiscard]] result<void> check_owners(const std::string& path);

} // namespace heddle::cli
