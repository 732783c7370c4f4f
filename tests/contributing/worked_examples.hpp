// The rows of the worked examples of docs/contributing. The program has none of them.
#pragma once

#include "command_line/command.hpp"
#include "lang/compile/special_form.hpp"

#include <heddle/lang/builtin.hpp>

#include <span>

namespace heddle::lang {

/// docs/contributing/adding-a-builtin.md
[[nodiscard]] std::span<const builtin> example_builtins() noexcept;
/// docs/contributing/adding-a-special-form.md
[[nodiscard]] std::span<const special_form> example_forms() noexcept;

} // namespace heddle::lang

namespace heddle::cli {

/// docs/contributing/adding-a-command.md
std::span<const command_row> count_commands() noexcept;

} // namespace heddle::cli
