// A request that is shown in place of being sent.
#pragma once

#include "services/watched_provider.hpp"

#include <heddle/base/redaction.hpp>
#include <heddle/ports/price_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

struct captured_request {
    ports::chat_request request; ///< without keys; its origin is empty
    std::string task;
    std::string service;
    std::optional<result<std::string>> wire; ///< the body; nothing: the service has no format
    std::vector<providers::left_out_setting> left_out{}; ///< settings that the service has not
};

/// Keeps the first request of a task and ends the work that made it, as a cancellation does. While
/// it waits for one, nothing is sent. Threads: the loop's.
class request_capture final : public request_watch {
public:
    /// Waits for a request from now on.
    void begin() {
        captured_.reset();
        waits_ = true;
    }
    /// Lets requests through again. Result: the one that came, or nothing.
    [[nodiscard]] std::optional<captured_request> end() {
        waits_ = false;
        return std::exchange(captured_, std::nullopt);
    }

    void hide(std::vector<secret> keys) override { secrets_ = redactor(std::move(keys)); }
    [[nodiscard]] std::optional<error> on_request(const seen_request& seen) override;

private:
    std::optional<captured_request> captured_;
    bool waits_ = false;
    redactor secrets_;
};

/// What a request will use and cost, before it is sent.
struct request_estimate {
    std::int64_t input_tokens = 0;
    std::optional<double> input_cost; ///< US dollars; nothing: the price is not known
    std::optional<double> max_cost;   ///< with all output that max_tokens allows
};
[[nodiscard]] request_estimate estimate_of(const captured_request& captured,
                                           const ports::price_port& prices);

/// For people: who is asked, settings, tokens, cost, then all of the request. `address`: of the
/// service; may be empty. Not printable yet.
[[nodiscard]] std::string captured_text(const captured_request& captured,
                                        const request_estimate& estimate,
                                        const std::string& address);
/// The same as one JSON object.
[[nodiscard]] std::string captured_json(const captured_request& captured,
                                        const request_estimate& estimate,
                                        const std::string& address);

} // namespace heddle::cli
