// Models that nobody may ask.
#pragma once

#include <heddle/ports/llm_port.hpp>
#include <heddle/setup/services/watched_provider.hpp>

namespace heddle::cli {

/// Refuses every request: in a replay, what is asked was answered before.
class refused_requests final : public setup::request_watch {
public:
    [[nodiscard]] std::optional<error> on_request(const setup::seen_request&) override {
        return error(ports::make_error_code(ports::llm_errc::configuration),
                     "the journal holds no response to this request");
    }
};

} // namespace heddle::cli
