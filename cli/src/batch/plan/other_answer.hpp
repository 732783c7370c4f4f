// A recorded answer with other data.
#pragma once

#include <heddle/lang/heap.hpp>

#include <string>

namespace heddle::cli {

/// As `body`, a recorded answer, but with nothing of its data: no string contains what it contained
/// and no pattern matches it, numbers have the other sign, and what was true is false. Of a result
/// of a task, only the content and the parsed content. An error stays. Made in `memory`.
[[nodiscard]] std::string other_answer(lang::heap& memory, const std::string& body);

} // namespace heddle::cli
