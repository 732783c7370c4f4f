// The resources of one execution: turns, window, tokens, money.
#pragma once

#include <heddle/coro/deadline.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/context_settings.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// A limit that is reached: RESOURCE_EXHAUSTION (runtime.md 6).
struct exhausted_resource {
    std::string_view resource; ///< turns, context, output, tokens, cost, time
    double used = 0;
    double limit = 0;
    std::string message;
};

/// Counts what the conversation of one execution uses, its subtasks included where that is said, and
/// knows when it is enough. Lives in the frame of the execution. Threads: its shard's only.
class task_session {
public:
    static constexpr std::int64_t default_turns = 10; ///< assistant messages, re-asks not counted

    /// `outer`: the session of the task that this one was started by; it outlives this one.
    void begin(const resource_limits& limits, std::int64_t most_asks,
               std::optional<std::int64_t> window, task_session* outer);

    /// Before a request: the limit that it would pass. Also bounds request.max_output_tokens by what
    /// is left, and notes warnings at 80 %.
    [[nodiscard]] std::optional<exhausted_resource> check(ports::chat_request& request);
    /// After an answer.
    void count(const ports::chat_response& answer, std::optional<double> cost);
    /// After an answer that ended at its length: whether that was the limit of the task.
    [[nodiscard]] std::optional<exhausted_resource> check_output() const;
    /// Time that a timeout has ended.
    [[nodiscard]] static exhausted_resource time_over(coro::clock::duration used,
                                                      coro::clock::duration limit);

    /// Tokens that a request takes, by what the provider said of earlier ones, else by its bytes.
    [[nodiscard]] std::int64_t estimate(const ports::chat_request& request) const noexcept;
    /// Tokens that a text takes.
    [[nodiscard]] std::int64_t estimate(std::size_t bytes) const noexcept;
    /// Tokens of the window that the conversation may use, if the window is known.
    [[nodiscard]] std::optional<std::int64_t> room() const noexcept;

    [[nodiscard]] const ports::token_usage& usage() const noexcept { return usage_; }
    [[nodiscard]] bool usage_known() const noexcept { return usage_known_; }
    [[nodiscard]] std::optional<double> cost() const noexcept {
        return cost_known_ ? std::optional(cost_) : std::nullopt;
    }
    [[nodiscard]] std::uint32_t requests() const noexcept { return requests_; }
    void count_failed(std::uint32_t attempts) noexcept { requests_ += attempts; }
    [[nodiscard]] std::int64_t turns() const noexcept { return turns_; }
    /// Warnings since the last call.
    [[nodiscard]] std::vector<std::string> take_warnings() { return std::move(warnings_); }

private:
    enum class resource : std::uint8_t { turns, context, output, tokens, cost, count };
    [[nodiscard]] std::optional<exhausted_resource> check_total(std::int64_t next);
    [[nodiscard]] static std::string_view name_of(resource what) noexcept;
    void warn(resource what, double used, double limit);

    resource_limits limits_;
    std::int64_t most_turns_ = default_turns;
    std::optional<std::int64_t> window_;
    task_session* outer_ = nullptr;
    ports::token_usage usage_;
    std::int64_t total_ = 0; ///< tokens of this and all below, as far as known
    double total_cost_ = 0;  ///< of this and all below, as far as known
    double cost_ = 0;
    bool usage_known_ = true;
    bool cost_known_ = true;
    std::uint32_t requests_ = 0;
    std::int64_t turns_ = 0;
    std::size_t asked_bytes_ = 0; ///< of the last request
    double tokens_per_byte_ = 0.25;
    bool warned_[static_cast<std::size_t>(resource::count)] = {};
    std::vector<std::string> warnings_;
};

/// Tokens in the window of a model, by what its name begins with; nothing for names that are not known.
[[nodiscard]] std::optional<std::int64_t> window_of_model(std::string_view model) noexcept;

/// Bytes of text in a request.
[[nodiscard]] std::size_t text_bytes(const ports::chat_request& request) noexcept;

} // namespace heddle::tasks
