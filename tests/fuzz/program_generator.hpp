// Programs out of bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace heddle::fuzzing {

/// A program over the special forms and builtins of the language that the bytes decide: mostly
/// well scoped, sometimes ill formed, its loops bounded. Any bytes give a program; the same bytes
/// give the same one; when they are used up it is closed with the simplest parts.
[[nodiscard]] std::string generate_program(std::span<const std::uint8_t> bytes);

} // namespace heddle::fuzzing
