// Bounds of one call.
#pragma once

#include <heddle/base/visibility.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace HEDDLE_PUBLIC heddle {

/// Bounds of one call. The defaults are those of runtime_options.
struct call_options {
    /// At this time the call fails with a TimeoutError, and its operations are cancelled.
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    /// The same, relative to the start of the call. The earlier of the two applies.
    std::optional<std::chrono::nanoseconds> timeout{};
    /// Maximum cost of all requests to models, in US dollars. The maximum cost of a request is
    /// reserved before it is sent; a request that would exceed the budget is not sent. The prices
    /// of the models must be known.
    std::optional<double> budget_usd{};
    /// Maximum number of requests to models.
    std::optional<std::uint64_t> max_calls{};
    /// Passed on to functions of the host, answers and errors: for example the identifier of an
    /// HTTP request. The call copies it. With runtime_options::journal it names a recorded call:
    /// the same call with the same tag continues where the last one stopped, or returns the answer
    /// of the last one.
    std::string_view tag{};
    std::optional<std::size_t> concurrency{};  ///< branches at a time; at least 1
    std::optional<std::size_t> memory_limit{}; ///< bytes
    std::optional<std::uint64_t> step_limit{}; ///< calls, loops, work of builtins
    /// A value that JSON cannot represent (a function, NaN, an infinity) fails the call, with its
    /// path in the message. Otherwise answer::value() has a string or a number in its place.
    bool strict_value = false;
};

// g++ 12 copies the bytes of an aggregate that is written within a co_await, and destroys both:
// `co_await flow.call("main", input, {.tag = id}, use_awaitable)` is to be right there, too.
static_assert(std::is_trivially_copyable_v<call_options>);

} // namespace heddle
