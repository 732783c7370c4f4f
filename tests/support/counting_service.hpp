// A service that counts what it has at once.
#pragma once

#include "loopback_server.hpp"

#include <atomic>
#include <string>

namespace heddle::loopback {

/// Responds to every request in the format of OpenAI with the text "yes", after 3 ms.
class counting_service {
public:
    [[nodiscard]] std::string url() const { return server_.url(); }
    /// A heddle.toml whose model is on this service, with `more` as settings of the service. The
    /// limit is two requests at once.
    [[nodiscard]] std::string config(const std::string& more) const;

    [[nodiscard]] int requests() const noexcept { return requests_; }
    /// How many requests were in progress at once at most.
    [[nodiscard]] int max_running() const noexcept { return max_running_; }
    [[nodiscard]] int connections() const { return server_.accepted(); }

private:
    void serve(connection& peer);

    std::atomic<int> running_{0};
    std::atomic<int> max_running_{0};
    std::atomic<int> requests_{0};
    server server_{[this](connection& peer, int) { serve(peer); }}; // last: its threads end first
};

} // namespace heddle::loopback
