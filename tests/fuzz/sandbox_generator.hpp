// Programs that try to leave a sandbox, out of bytes.
#pragma once

#include "sandbox_host.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace heddle::fuzzing {

struct sandbox_case {
    std::string code;
    sandbox_terms terms;
};

/// The same bytes make the same case. Forms, builtins, functions of the prelude and settings of
/// `with` come from their tables, so that new ones are tried too. `names`: those that exist around
/// the code.
[[nodiscard]] sandbox_case generate_sandbox_case(std::span<const std::uint8_t> bytes,
                                                 const std::vector<std::string>& names);

/// The terms alone, for code that is given as text.
[[nodiscard]] sandbox_terms generate_sandbox_terms(std::span<const std::uint8_t> bytes);

} // namespace heddle::fuzzing
