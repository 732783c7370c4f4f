// Finds the files of (import "…").
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>

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
    /// `path` as written; `from`: the name of the importing file, or of other code that imports.
    /// Errors: those of reading the file, such as not_found. Cancellation: ends at its next wait.
    [[nodiscard]] virtual coro::task<result<imported_source>> load(std::string path,
                                                                   std::string from,
                                                                   coro::call_context context) = 0;
};

} // namespace heddle::host
