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

/// Bounds of one call. What is not set is as in runtime_options.
struct call_options {
    /// The call fails with a TimeoutError when this time has come; what it waits for is ended.
    std::optional<std::chrono::steady_clock::time_point> deadline{};
    /// The same, from now on. The earlier one of both holds.
    std::optional<std::chrono::nanoseconds> timeout{};
    /// Maximum cost of all requests to models, in US dollars. What a request may cost is set aside
    /// before it is sent; one that does not fit is not sent. Needs models of known prices.
    std::optional<double> budget_usd{};
    /// Maximum number of requests to models.
    std::optional<std::uint64_t> max_calls{};
    /// For functions of the host, answers and errors, such as the identifier of a request. Copied
    /// by the call.
    std::string_view tag{};
    std::optional<std::size_t> concurrency{};  ///< branches at once
    std::optional<std::size_t> memory_limit{}; ///< bytes
    std::optional<std::uint64_t> step_limit{}; ///< calls, loops, work of builtins
};

// g++ 12 copies the bytes of an aggregate that is written within a co_await, and destroys both:
// `co_await flow.call("main", input, {.tag = id}, use_awaitable)` is to be right there, too.
static_assert(std::is_trivially_copyable_v<call_options>);

} // namespace heddle
