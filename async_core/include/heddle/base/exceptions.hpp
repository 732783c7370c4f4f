// Conversion of exceptions to errors, where only errors may cross.
#pragma once

#include <heddle/base/error.hpp>

#include <string_view>

namespace heddle {

/// Converts the exception being handled to an error. Must be called inside a catch clause.
/// `doing`: what threw, for the message, such as "the effect 'fetch'". Result: the error that an
/// error_exception holds; a LimitError (limit_exceeded) for exhausted memory; otherwise
/// errc::internal.
[[nodiscard]] error error_of_exception(std::string_view doing) noexcept;

/// The error for exhausted memory. It is allocated in advance, so that returning it needs no
/// memory.
[[nodiscard]] const error& out_of_memory() noexcept;

} // namespace heddle
