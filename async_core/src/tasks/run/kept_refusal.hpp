// What a budget, or a limit of a task, refused, and how the record of a durable step keeps it.
#pragma once

#include "tasks/call/spending.hpp"

#include <heddle/base/error.hpp>
#include <heddle/ports/llm_port.hpp>

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

/// The payload of a call that a budget or a limit ended between two of its requests: what those
/// cost that were sent, and what is used up.
class stopped_call final : public ports::partial_response {
public:
    stopped_call(const ports::partial_response& sent, spent_budget spent)
        : partial_response(sent), over(std::move(spent)) {}
    const spent_budget over;
};

/// Null: `failure` has another reason. Lives as long as the failure.
[[nodiscard]] const stopped_call* stopped_by(const error& failure) noexcept;

/// What refused a request of the call under way. A route may get on without that request, so only
/// the end of the call shows whether it is the reason.
class request_refusal {
public:
    /// A further call begins.
    void clear() noexcept { over_.reset(); }
    /// The error for whoever wanted to send the request.
    [[nodiscard]] error note(spent_budget over);
    /// Marks the failure of the call as a stopped_call, if this is its reason.
    void mark(result<ports::chat_response>& ended) const;

private:
    std::optional<spent_budget> over_;
};

/// The body of the record of a request that was not made because a budget is used up: what is left
/// of a budget is not known to a repetition, which must not ask either.
[[nodiscard]] std::string encode_refusal(const spent_budget& over);
/// Nothing: the body is no such one.
[[nodiscard]] std::optional<spent_budget> decode_refusal(std::string_view body);

} // namespace heddle::tasks
