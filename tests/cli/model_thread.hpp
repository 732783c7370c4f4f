// A scripted model server in the test's own process: it can be asked what it sees.
#pragma once

#include <heddle/scripted/server.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace heddle::cli_test {

/// Serves on a thread of its own until it is destroyed.
class model_thread {
public:
    /// `port`: 0 for any free one.
    explicit model_thread(const std::string& rules, std::string required_key = {},
                          std::uint16_t port = 0);
    ~model_thread();
    model_thread(const model_thread&) = delete;
    model_thread& operator=(const model_thread&) = delete;

    [[nodiscard]] const std::string& url() const noexcept { return url_; }
    [[nodiscard]] std::uint16_t port() const;
    [[nodiscard]] scripted::server_counters counters();
    /// Polls until `what` holds; false after ten seconds.
    [[nodiscard]] bool wait_until(
        const std::function<bool(const scripted::server_counters&)>& what);

private:
    struct parts;
    std::unique_ptr<parts> parts_;
    std::string url_;
    std::thread thread_;
};

} // namespace heddle::cli_test
