#include "serve/request_rates.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::cli {

namespace {

constexpr std::chrono::minutes period{1};

} // namespace

std::optional<std::chrono::seconds> request_rates::count(const std::string& client,
                                                         coro::clock::time_point now) {
    if (per_minute_ == 0) return std::nullopt;
    forget_old(now);
    const auto most = static_cast<double>(per_minute_);
    const double per_second = most / 60;
    const auto [found, is_new] = clients_.try_emplace(client, bucket{most, now});
    bucket& own = found->second;
    const double passed = std::chrono::duration<double>(now - own.at).count();
    own.left = std::min(most, own.left + passed * per_second);
    own.at = now;
    if (own.left >= 1) {
        own.left -= 1;
        return std::nullopt;
    }
    return std::chrono::seconds(static_cast<long>(std::ceil((1 - own.left) / per_second)));
}

/// A bucket that nobody used for a minute is full: forgetting it changes nothing.
void request_rates::forget_old(coro::clock::time_point now) {
    if (now - swept_ < period) return;
    swept_ = now;
    std::erase_if(clients_, [&](const auto& each) { return now - each.second.at >= period; });
}

} // namespace heddle::cli
