// The base of ports that wrap another model service.
#pragma once

#include <heddle/ports/llm_port.hpp>

#include <string_view>

namespace heddle::ports {

/// Describes itself as the service that it wraps. Wrappers override `complete` and `stream`, and
/// what they change. Threads: as llm_port.
class forwarding_llm_port : public llm_port {
public:
    [[nodiscard]] std::string_view provider_name() const noexcept override {
        return inner_.provider_name();
    }
    [[nodiscard]] bool keeps_responses() const noexcept override {
        return inner_.keeps_responses();
    }
    [[nodiscard]] unsigned max_requests_at_once() const noexcept override {
        return inner_.max_requests_at_once();
    }

protected:
    /// `inner` outlives this.
    explicit forwarding_llm_port(llm_port& inner) noexcept : inner_(inner) {}

    llm_port& inner_;
};

} // namespace heddle::ports
