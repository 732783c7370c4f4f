// What an exception means where only errors may pass.
#pragma once

#include <heddle/base/error.hpp>

#include <string_view>

namespace heddle {

/// The error that the exception being handled stands for: its own for an error_exception, a
/// LimitError (limit_exceeded) for lack of memory, else errc::internal. `doing` says who threw:
/// "the effect 'fetch'". Only inside a catch clause.
[[nodiscard]] error error_of_exception(std::string_view doing) noexcept;

/// The error for lack of memory. It exists before it is needed, so that it takes no memory.
[[nodiscard]] const error& out_of_memory() noexcept;

} // namespace heddle
