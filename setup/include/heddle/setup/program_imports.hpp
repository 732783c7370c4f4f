// The files that a program on the command line may import.
#pragma once

#include <heddle/coro/event_loop.hpp>
#include <heddle/host/import_port.hpp>

#include <memory>
#include <string>

namespace heddle::setup {

/// Imports for `program`, a path as on the command line ("<stdin>" and similar: not a file). A
/// program inside the workspace may import from the whole workspace, another one from its folder
/// and below. Errors: not_found.
[[nodiscard]] result<std::unique_ptr<host::import_port>> make_program_imports(
    const std::string& program, const std::string& workspace, coro::event_loop& loop);

} // namespace heddle::setup
