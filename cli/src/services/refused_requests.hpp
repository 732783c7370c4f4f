// Models that nobody may ask.
#pragma once

#include "services/watched_provider.hpp"

#include <heddle/ports/llm_port.hpp>

namespace heddle::cli {

/// Refuses every request: in a replay, what is asked was answered before.
class refused_requests final : public request_watch {
public:
    [[nodiscard]] std::optional<error> on_request(const seen_request&) override {
        return error(ports::make_error_code(ports::llm_errc::configuration),
                     "the journal holds no response to this request");
    }
};

} // namespace heddle::cli
