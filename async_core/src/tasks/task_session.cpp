#include "task_session.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace heddle::tasks {

namespace {

constexpr double warning_share = 0.8;
constexpr std::size_t bytes_of_a_message = 16; ///< what roles and brackets come to
constexpr std::array<std::string_view, 5> names{"turns", "context", "output", "tokens", "cost"};

[[nodiscard]] std::string number(double n) {
    char digits[32];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, n, std::chars_format::general, 6);
    return {digits, end.ptr};
}

[[nodiscard]] exhausted_resource reached(std::string_view resource, double used, double limit,
                                         std::string_view unit) {
    return {resource, used, limit,
            "the limit of the task is reached: " + number(used) + " of " + number(limit) + " " +
                std::string(unit)};
}

} // namespace

std::size_t text_bytes(const ports::chat_request& request) noexcept {
    std::size_t bytes = 0;
    for (const ports::chat_message& each : request.messages) {
        bytes += each.text.size() + bytes_of_a_message;
        for (const ports::tool_call& call : each.tool_calls) {
            bytes += call.name.size() + call.arguments_json.size();
        }
        for (const ports::reasoning_part& part : each.reasoning) bytes += part.text.size();
    }
    for (const ports::tool_spec& tool : request.tools) {
        bytes += tool.name.size() + tool.description.size() + tool.parameters_json.size();
    }
    return bytes + request.format.schema_json.size();
}

std::string_view task_session::name_of(resource what) noexcept {
    return names[static_cast<std::size_t>(what)];
}

void task_session::begin(const resource_limits& limits, std::int64_t most_asks,
                         std::optional<std::int64_t> window, task_session* outer) {
    limits_ = limits;
    most_turns_ = limits.max_turns.value_or(default_turns + most_asks);
    window_ = window;
    outer_ = outer;
}

std::int64_t task_session::estimate(std::size_t bytes) const noexcept {
    return static_cast<std::int64_t>(static_cast<double>(bytes) * tokens_per_byte_);
}

std::int64_t task_session::estimate(const ports::chat_request& request) const noexcept {
    return estimate(text_bytes(request));
}

std::optional<std::int64_t> task_session::room() const noexcept {
    if (!window_) return std::nullopt;
    return static_cast<std::int64_t>(static_cast<double>(*window_) *
                                     limits_.max_context.value_or(1.0));
}

void task_session::warn(resource what, double used, double limit) {
    bool& warned = warned_[static_cast<std::size_t>(what)];
    if (warned || used < warning_share * limit) return;
    warned = true;
    warnings_.push_back(std::string(name_of(what)) + ": " + number(used) + " of " + number(limit) +
                        " used");
}

/// Limits of the whole chain: of this task and of those that wait for it.
std::optional<exhausted_resource> task_session::check_total(std::int64_t next) {
    if (const auto& most = limits_.max_tokens_total) {
        const auto used = static_cast<double>(total_ + next);
        const auto limit = static_cast<double>(*most);
        if (used > limit) return reached(name_of(resource::tokens), used, limit, "tokens");
        warn(resource::tokens, used, limit);
    }
    if (const auto& most = limits_.max_cost_usd) {
        if (total_cost_ >= *most)
            return reached(name_of(resource::cost), total_cost_, *most, "USD");
        warn(resource::cost, total_cost_, *most);
    }
    return outer_ ? outer_->check_total(next) : std::nullopt;
}

std::optional<exhausted_resource> task_session::check(ports::chat_request& request) {
    if (turns_ >= most_turns_) {
        return reached(name_of(resource::turns), static_cast<double>(turns_),
                       static_cast<double>(most_turns_), "turns");
    }
    if (limits_.max_turns) {
        warn(resource::turns, static_cast<double>(turns_ + 1), static_cast<double>(most_turns_));
    }
    asked_bytes_ = text_bytes(request);
    const std::int64_t next = estimate(asked_bytes_);
    if (const auto most = room()) {
        const auto used = static_cast<double>(next);
        const auto limit = static_cast<double>(*most);
        if (used > limit)
            return reached(name_of(resource::context), used, limit, "tokens of context");
        warn(resource::context, used, limit);
    }
    if (const auto& most = limits_.max_output) {
        const std::int64_t left = *most - usage_.output;
        if (left <= 0) {
            return reached(name_of(resource::output), static_cast<double>(usage_.output),
                           static_cast<double>(*most), "tokens of output");
        }
        request.max_output_tokens = std::min(request.max_output_tokens.value_or(left), left);
    }
    return check_total(next);
}

std::optional<exhausted_resource> task_session::check_output() const {
    if (!limits_.max_output || usage_.output < *limits_.max_output) return std::nullopt;
    return reached(name_of(resource::output), static_cast<double>(usage_.output),
                   static_cast<double>(*limits_.max_output), "tokens of output");
}

exhausted_resource task_session::time_over(coro::clock::duration used,
                                           coro::clock::duration limit) {
    const std::chrono::duration<double> spent = used;
    const std::chrono::duration<double> most = limit;
    return {"time", spent.count(), most.count(), "the time given to the task is over"};
}

void task_session::count(const ports::chat_response& answer, std::optional<double> cost) {
    requests_ += answer.attempts;
    ++turns_;
    ports::token_usage used;
    if (answer.usage) {
        used = *answer.usage;
        if (used.input > 0 && asked_bytes_ != 0) {
            // Kept within what texts can be, whatever a service says.
            tokens_per_byte_ = std::clamp(
                static_cast<double>(used.input) / static_cast<double>(asked_bytes_), 0.05, 1.0);
        }
        usage_.input += used.input;
        usage_.output += used.output;
        usage_.cached += used.cached;
        usage_.cache_written += used.cache_written;
        usage_.reasoning += used.reasoning;
    } else {
        usage_known_ = false;
        used.input = estimate(asked_bytes_);
        used.output = estimate(answer.text.size());
        usage_.output += used.output; // for the limit; a result does not show it
    }
    if (cost) cost_ += *cost;
    else cost_known_ = false;
    for (task_session* each = this; each; each = each->outer_) {
        each->total_ += used.input + used.output;
        if (cost) each->total_cost_ += *cost;
    }
    if (limits_.max_output) {
        warn(resource::output, static_cast<double>(usage_.output),
             static_cast<double>(*limits_.max_output));
    }
}

} // namespace heddle::tasks
