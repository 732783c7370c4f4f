// The answer of a workflow, as plain data.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/json.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace HEDDLE_PUBLIC heddle {

/// What the calls of models of one workflow have used.
struct usage {
    std::uint64_t calls = 0;    ///< of tasks, answered from a cache or not
    std::uint64_t requests = 0; ///< sent to services, retries included
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    double known_cost_usd = 0;  ///< US dollars of the calls whose price is known
    std::uint64_t unpriced = 0; ///< calls that used tokens of an unknown price
    bool estimated = false;     ///< some tokens were not reported by the service

    /// US dollars; nothing if the price of a call is unknown.
    [[nodiscard]] std::optional<double> cost_usd() const noexcept {
        return unpriced == 0 ? std::optional<double>(known_cost_usd) : std::nullopt;
    }
    friend bool operator==(const usage&, const usage&) = default;
};

/// `{"calls": …, "requests": …, "input_tokens": …, "output_tokens": …, "cost_usd": …}`. An unknown
/// cost is null; then "known_cost_usd" is what is known of it.
[[nodiscard]] json to_json(const usage& used);

/// What a workflow returned. It owns its data: it may outlive the runtime and cross threads.
/// Threads: as a std::string.
class answer {
public:
    answer() = default;
    answer(json value, usage used, std::chrono::nanoseconds duration, std::string tag)
        : value_(std::move(value)), used_(used), duration_(duration), tag_(std::move(tag)) {}

    /// The value that the function returned. What JSON cannot represent is a string: its printed
    /// form.
    [[nodiscard]] const json& value() const& noexcept { return value_; }
    [[nodiscard]] json value() && noexcept { return std::move(value_); }
    /// The value for people: a string as it is, the content of a task result, other data as JSON.
    [[nodiscard]] std::string text() const;
    /// Whether the value is the result of a task that failed: `status` is "FAILED", and
    /// `notes.error` has the reason. A workflow that calls `(content …)` raises an error instead.
    [[nodiscard]] bool is_failed_result() const noexcept;

    [[nodiscard]] const usage& used() const noexcept { return used_; }
    /// From the call to its end, with the time in the queue.
    [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return duration_; }
    /// As in call_options.
    [[nodiscard]] const std::string& tag() const noexcept { return tag_; }

    /// `{"value": …, "usage": {…}, "duration_ms": …, "tag": …}`; without a tag that is empty.
    [[nodiscard]] json to_json() const;

private:
    json value_;
    usage used_;
    std::chrono::nanoseconds duration_{0};
    std::string tag_;
};

[[nodiscard]] inline json to_json(const answer& of) { return of.to_json(); }

} // namespace heddle
