// The answer of a workflow, as plain data.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace HEDDLE_PUBLIC heddle {

/// What the calls of tasks in one call of a workflow have used.
struct usage {
    std::uint64_t calls = 0;    ///< of tasks, including those that the cache answered
    std::uint64_t requests = 0; ///< sent to services, retries included
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    double known_cost_usd = 0;  ///< US dollars of the calls whose price is known
    std::uint64_t unpriced = 0; ///< calls that used tokens of an unknown price
    bool estimated = false; ///< some token counts are estimates, because the service reported none

    usage& operator+=(const usage& other) noexcept;
    /// US dollars; std::nullopt if the price of a call is unknown.
    [[nodiscard]] std::optional<double> cost_usd() const noexcept {
        return unpriced == 0 ? std::optional<double>(known_cost_usd) : std::nullopt;
    }
    friend bool operator==(const usage&, const usage&) = default;
};

/// `{"calls": …, "requests": …, "input_tokens": …, "output_tokens": …, "cost_usd": …}`. An unknown
/// cost is null; "known_cost_usd" is then the part that is known.
[[nodiscard]] json to_json(const usage& used);

/// What a workflow returned. It owns its data: it can outlive the runtime and be moved between
/// threads.
/// Threads: the same as std::string.
class answer {
public:
    answer() = default;
    answer(json value, usage used, std::chrono::nanoseconds duration, std::string tag,
           usage used_before = {}, bool is_recorded = false)
        : value_(std::move(value)), used_(used), duration_(duration), tag_(std::move(tag)),
          used_before_(used_before), is_recorded_(is_recorded) {}

    /// The value that the function returned. A value that JSON cannot represent becomes a string,
    /// its printed form, unless call_options::strict_value makes it an error.
    [[nodiscard]] const json& value() const& noexcept { return value_; }
    [[nodiscard]] json value() && noexcept { return std::move(value_); }
    /// The value as text: a string unchanged, the content of a task result, other data as JSON.
    [[nodiscard]] std::string text() const;
    /// Whether the value is the result of a task that failed: `status` is "FAILED", and
    /// `notes.error` has the reason. A workflow that calls `(content …)` raises an error instead.
    [[nodiscard]] bool is_failed_result() const noexcept;

    /// By this call, without what the journal had.
    [[nodiscard]] const usage& used() const noexcept { return used_; }
    /// What earlier attempts at a recorded call have paid for, also where a crash has lost the
    /// response. `calls` is 0. All zero for a call that is not recorded.
    [[nodiscard]] const usage& used_before() const noexcept { return used_before_; }
    /// Whether the call had ended before: the value is the recorded one, and nothing was run.
    [[nodiscard]] bool is_recorded() const noexcept { return is_recorded_; }
    /// From the call to its end, including the time in the queue.
    [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return duration_; }
    /// As in call_options.
    [[nodiscard]] const std::string& tag() const noexcept { return tag_; }

    /// `{"value": …, "usage": {…}, "duration_ms": …, "tag": …}`; an empty tag is omitted. With
    /// `"used_before": {…}` where that is not zero, and `"recorded": true`.
    [[nodiscard]] json to_json() const;

private:
    json value_;
    usage used_;
    std::chrono::nanoseconds duration_{0};
    std::string tag_;
    usage used_before_;
    bool is_recorded_ = false;
};

[[nodiscard]] inline json to_json(const answer& of) { return of.to_json(); }

} // namespace heddle
