// Captures a request instead of sending it.
#pragma once

#include <heddle/base/redaction.hpp>
#include <heddle/ports/price_port.hpp>
#include <heddle/providers/common/chat_codec.hpp>
#include <heddle/setup/services/watched_provider.hpp>

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
    std::optional<result<std::string>> wire; ///< the body; absent if the service has no wire format
    std::vector<providers::left_out_setting> left_out{}; ///< unsupported settings
};

/// Captures the first request of a task, and cancels the work that made it. Between begin() and
/// end() nothing is sent. Threads: the loop's.
class request_capture final : public setup::request_watch {
public:
    /// Starts to capture.
    void begin() {
        captured_.reset();
        waits_ = true;
    }
    /// Stops capturing. Result: the captured request, if there was one.
    [[nodiscard]] std::optional<captured_request> end() {
        waits_ = false;
        return std::exchange(captured_, std::nullopt);
    }

    void hide(std::vector<secret> keys) override { secrets_ = redactor(std::move(keys)); }
    [[nodiscard]] std::optional<error> on_request(const setup::seen_request& seen) override;

private:
    std::optional<captured_request> captured_;
    bool waits_ = false;
    redactor secrets_;
};

/// What a request will use and cost, before it is sent.
struct request_estimate {
    std::int64_t input_tokens = 0;
    std::optional<double> input_cost; ///< US dollars; absent if the price is not known
    std::optional<double> max_cost;   ///< with all output that max_tokens allows
};
[[nodiscard]] request_estimate estimate_of(const captured_request& captured,
                                           const ports::price_port& prices);

/// The request as text: service, model, settings, tokens and cost, then the messages, tools and
/// schema. `address`: of the service; may be empty. The result may hold control characters.
[[nodiscard]] std::string captured_text(const captured_request& captured,
                                        const request_estimate& estimate,
                                        const std::string& address);
/// The same as one JSON object.
[[nodiscard]] std::string captured_json(const captured_request& captured,
                                        const request_estimate& estimate,
                                        const std::string& address);

} // namespace heddle::cli
