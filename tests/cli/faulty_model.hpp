// A model server that is slow, answers with 429, breaks connections and is restarted, and that logs
// every request.
#pragma once

#include "loopback_server.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace heddle::cli_test {

/// Answers a prompt that begins with `CALL:` with "answer to CALL.".
class faulty_model {
public:
    /// A request as the server has it in its log.
    struct request {
        std::string call;
        enum class fate : std::uint8_t {
            answered, ///< or still being answered: the client may have the response
            refused,  ///< 429
            broken    ///< the connection was closed before or inside the response
        } ended = fate::answered;
    };

    /// Faults and delays are drawn from `seed`.
    explicit faulty_model(std::uint32_t seed);

    /// The base URL, the same after restarts.
    [[nodiscard]] const std::string& url() const noexcept { return url_; }
    /// Cuts all connections, refuses further ones for `pause`, and serves again.
    void restart(std::chrono::milliseconds pause);
    /// Returns when no connection is open any more; false after ten seconds.
    [[nodiscard]] bool wait_until_idle() const;
    [[nodiscard]] std::vector<request> log() const;
    [[nodiscard]] std::size_t logged() const;

private:
    void serve(loopback::connection& connection);

    mutable std::mutex mutex_; ///< guards the two below
    std::mt19937 chance_;
    std::vector<request> log_;
    std::unique_ptr<loopback::server> server_;
    std::string url_;
};

} // namespace heddle::cli_test
