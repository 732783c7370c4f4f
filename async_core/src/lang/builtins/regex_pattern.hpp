// Compiled patterns.
#pragma once

#include <heddle/lang/builtin.hpp>

#include <memory>
#include <span>

namespace re2 {
class RE2;
}

namespace heddle::lang {

/// The compiled pattern of argument 1. Null: the error is noted, or the call has to stop.
[[nodiscard]] std::shared_ptr<const re2::RE2> compiled_pattern(native_call& call,
                                                               std::span<value> arguments);

/// The LimitError when run_beside() has refused.
[[nodiscard]] error no_thread_for_pattern();

} // namespace heddle::lang
