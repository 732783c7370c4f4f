// A model server that never responds, and knows which connections are open.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace heddle::cli_test {

/// Accepts connections and reads from them on a thread of its own until it is destroyed.
class silent_model {
public:
    silent_model() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        (void)::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at);
        (void)::listen(listener_, 1024);
        (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
        port_ = ntohs(at.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~silent_model() {
        ends_ = true;
        thread_.join();
        ::close(listener_);
    }
    silent_model(const silent_model&) = delete;
    silent_model& operator=(const silent_model&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const {
        return "http://127.0.0.1:" + std::to_string(port_) + "/v1";
    }
    /// Connections that have sent something and are open.
    [[nodiscard]] int asking() const noexcept { return asking_; }

private:
    void serve() {
        std::vector<pollfd> open{{listener_, POLLIN, 0}};
        std::vector<bool> asked{false};
        while (!ends_) {
            (void)::poll(open.data(), open.size(), 10);
            if ((open.front().revents & POLLIN) != 0) {
                open.push_back({::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), POLLIN, 0});
                asked.push_back(false);
            }
            for (std::size_t i = open.size(); i-- > 1;) {
                if (open[i].revents == 0) continue;
                char block[4096];
                if (::recv(open[i].fd, block, sizeof block, MSG_DONTWAIT) > 0) {
                    if (!asked[i]) ++asking_;
                    asked[i] = true;
                    continue;
                }
                if (asked[i]) --asking_;
                ::close(open[i].fd);
                open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
                asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
        for (std::size_t i = 1; i < open.size(); ++i) ::close(open[i].fd);
    }

    int listener_;
    std::uint16_t port_ = 0;
    std::atomic<int> asking_{0};
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

} // namespace heddle::cli_test
