// Requests per minute of each client.
#pragma once

#include <heddle/coro/deadline.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heddle::cli {

/// A token bucket for each client: `per_minute` requests at once, and as many in each minute.
/// Clients that have not called for a minute are forgotten. Threads: one.
class request_rates {
public:
    /// 0: without a bound.
    explicit request_rates(std::size_t per_minute) noexcept : per_minute_(per_minute) {}

    /// Counts a request. Result: how long the client has to wait; nothing if it may go on.
    [[nodiscard]] std::optional<std::chrono::seconds> count(const std::string& client,
                                                            coro::clock::time_point now);

private:
    struct bucket {
        double left = 0;
        coro::clock::time_point at;
    };
    void forget_old(coro::clock::time_point now);

    std::size_t per_minute_;
    std::unordered_map<std::string, bucket> clients_;
    coro::clock::time_point swept_;
};

} // namespace heddle::cli
