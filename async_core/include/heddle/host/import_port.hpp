// Where (import "…") finds files.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/ports/file_port.hpp>

#include <memory>
#include <string>

namespace heddle::host {

/// A file that a program imports.
struct imported_source {
    std::string name; ///< identifies the file; shown in errors
    std::string text;
};

/// Finds the files that programs import (docs/spec/language.md §3). Threads: the loop's only.
class import_port {
public:
    virtual ~import_port() = default;
    /// `path` as written; `from`: the name of the importing file, or of whatever code imports.
    /// Errors: not_found and the like, of the file. Cancellation: ends at its next wait.
    [[nodiscard]] virtual coro::task<result<imported_source>> load(std::string path,
                                                                   std::string from,
                                                                   coro::call_context context) = 0;
};

/// Imports out of a file port, whose names are the names of sources: a path is taken relative to
/// the folder of the importing file. `files` outlives it.
[[nodiscard]] std::unique_ptr<import_port> make_file_imports(ports::file_port& files);

} // namespace heddle::host
