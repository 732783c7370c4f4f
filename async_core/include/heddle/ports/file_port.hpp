// Files as workflows see them.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

#include <string>
#include <vector>

namespace heddle::ports {

/// Access to files inside a workspace root. A path that leaves it ("..", an absolute path
/// elsewhere, a symbolic link) is refused. Blocking work runs off the loop.
class file_port {
public:
    virtual ~file_port() = default;
    /// The whole file as UTF-8 text. Errors: not_found, limit_exceeded above the configured size.
    [[nodiscard]] virtual coro::task<result<std::string>> read(std::string path,
                                                               coro::call_context context) = 0;
    /// Replaces the file in one step (temporary file and rename).
    [[nodiscard]] virtual coro::task<result<void>> write(std::string path, std::string text,
                                                         coro::call_context context) = 0;
    [[nodiscard]] virtual coro::task<result<bool>> exists(std::string path,
                                                          coro::call_context context) = 0;
    /// Names in a directory, sorted by bytes; directories end in "/".
    [[nodiscard]] virtual coro::task<result<std::vector<std::string>>> list(
        std::string path, coro::call_context context) = 0;
    /// The one name of each file: its path below the root, without links, "." and "..". A path
    /// that leads out of the root or cannot be followed stays as it is. The default is for files
    /// without links, where ".." is a matter of the text. Errors: cancelled.
    [[nodiscard]] virtual coro::task<result<std::vector<std::string>>> names_of(
        std::vector<std::string> paths, coro::call_context context);
};

} // namespace heddle::ports
