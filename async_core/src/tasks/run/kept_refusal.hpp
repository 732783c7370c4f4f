// What a budget refused in a durable step, as its record keeps it.
#pragma once

#include "tasks/call/spending.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// The body of the record of a request that was not made because a budget is used up: what is left
/// of a budget is not known to a repetition, which must not ask either.
[[nodiscard]] std::string encode_refusal(const spent_budget& over);
/// Nothing: the body is no such one.
[[nodiscard]] std::optional<spent_budget> decode_refusal(std::string_view body);

} // namespace heddle::tasks
