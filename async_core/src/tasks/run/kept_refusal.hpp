// What a budget refused in a durable step, as its record keeps it.
#pragma once

#include "tasks/call/spending.hpp"

#include <heddle/base/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heddle::tasks {

/// Marks the error of a request that was not made because a budget is used up.
class budget_refusal final : public error_payload {
public:
    explicit budget_refusal(spent_budget spent) : over(std::move(spent)) {}
    const spent_budget over;
};

/// The body of the record of a request that was not made because a budget is used up: what is left
/// of a budget is not known to a repetition, which must not ask either.
[[nodiscard]] std::string encode_refusal(const spent_budget& over);
/// Nothing: the body is no such one.
[[nodiscard]] std::optional<spent_budget> decode_refusal(std::string_view body);

} // namespace heddle::tasks
