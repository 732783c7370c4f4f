// A request as one target of a route gets it.
#pragma once

#include <heddle/providers/routing/route.hpp>

#include <optional>
#include <string>

namespace heddle::providers {

/// The request itself when the target has its model, as the first of a route mostly does: prompts are
/// long, and a copy is made only for the others. `request` outlives it.
class target_request {
public:
    target_request(const ports::chat_request& request, const route_target& target)
        : original_(request) {
        if (target.model.empty() || target.model == request.model) return;
        changed_.emplace(request);
        changed_->model = target.model;
    }
    [[nodiscard]] const ports::chat_request& operator*() const noexcept {
        return changed_ ? *changed_ : original_;
    }

private:
    const ports::chat_request& original_;
    std::optional<ports::chat_request> changed_;
};

[[nodiscard]] inline std::string target_text(const route_target& target) {
    std::string text(target.provider->provider_name());
    if (!target.model.empty()) text += ":" + target.model;
    return text;
}

/// Says who answered, unless a route within this one has said it.
inline void sign(ports::chat_response& answer, const route_target& target) {
    if (answer.provider.empty()) answer.provider = target.provider->provider_name();
}

} // namespace heddle::providers
