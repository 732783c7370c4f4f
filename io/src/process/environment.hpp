// What a child starts with: its variables, and which file its program is.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/ports/process_port.hpp>
#include <heddle/process/child_processes.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::process {

/// "NAME=text" lines for a child.
using environment_block = std::vector<std::string>;

/// True when `name` is matched by `pattern`, where `*` matches any characters; letters match in
/// either case.
[[nodiscard]] bool matches_name(std::string_view pattern, std::string_view name) noexcept;

/// True for text with an address that has a password in it: "scheme://user:password@host". The
/// password may hold any character but white space, so that "scheme://host:port/a@b" counts too.
[[nodiscard]] bool holds_password(std::string_view text) noexcept;

/// `inherited` without what is withheld, with what the request adds (the last of a name wins).
/// Errors: invalid_argument for a name that is none.
[[nodiscard]] result<environment_block> make_environment(const char* const* inherited,
                                                         const process_options& options,
                                                         const ports::process_request& request);

/// The file of a program: itself when it has a slash, else the first executable file in a directory
/// of the block's PATH. Directories of PATH that are not absolute are passed over: what a workflow
/// wrote into its workspace must not take the place of a program. Errors: not_found, not_permitted
/// (there is one, but not executable).
[[nodiscard]] result<std::string> find_program(const std::string& name,
                                               const environment_block& variables);

} // namespace heddle::process
