// A request as one target of a route gets it.
#pragma once

#include <heddle/providers/routing/route.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace heddle::providers {

/// The request itself when the target has its model, as the first of a route mostly does: prompts
/// are long, and a copy is made only for the others. `request` outlives it.
class target_request {
public:
    /// `sends`: asked in place of the gate of the request; null: that one is.
    target_request(const ports::chat_request& request, const route_target& target,
                   bool is_hedge = false, ports::send_gate* sends = nullptr)
        : original_(request) {
        const bool same_model = target.model.empty() || target.model == request.model;
        // Without a model of its own the target is a route, which looks for itself.
        const bool foreign = !target.model.empty() && has_foreign_marks(request, *target.provider);
        // A second call that waited for the first one could not overtake it.
        const bool joins = is_hedge && request.scheduling.cache == ports::cache_use::shared;
        // The call runs while its first request does, whatever the second one waits for.
        const bool unheard = is_hedge && request.waits != nullptr;
        if (same_model && !foreign && !joins && !unheard && !sends) return;
        changed_.emplace(request);
        if (unheard) changed_->waits = nullptr;
        if (sends) changed_->sends = sends;
        if (joins) changed_->scheduling.cache = ports::cache_use::apart;
        if (!same_model) changed_->model = target.model;
        if (foreign) drop_foreign_marks(*changed_, *target.provider);
    }
    [[nodiscard]] const ports::chat_request& operator*() const noexcept {
        return changed_ ? *changed_ : original_;
    }

private:
    /// What another service has signed: this one would refuse it.
    [[nodiscard]] static bool is_foreign(const ports::chat_message& message,
                                         const ports::llm_port& provider) noexcept {
        return !message.written_by.empty() && message.written_by != provider.provider_name();
    }
    [[nodiscard]] static bool has_foreign_marks(const ports::chat_request& request,
                                                const ports::llm_port& provider) noexcept {
        return std::any_of(request.messages.begin(), request.messages.end(),
                           [&](const auto& each) { return is_foreign(each, provider); });
    }
    static void drop_foreign_marks(ports::chat_request& request, const ports::llm_port& provider) {
        for (ports::chat_message& message : request.messages) {
            if (!is_foreign(message, provider)) continue;
            message.reasoning.clear();
            for (ports::tool_call& call : message.tool_calls) call.signature.clear();
        }
    }

    const ports::chat_request& original_;
    std::optional<ports::chat_request> changed_;
};

[[nodiscard]] inline std::string target_text(const route_target& target) {
    std::string text(target.provider->provider_name());
    if (!target.model.empty()) text += ":" + target.model;
    return text;
}

/// Records who responded and what was asked for, unless a route within this one has done so.
inline void sign(ports::chat_response& response, const route_target& target) {
    if (!response.provider.empty()) return;
    response.provider = target.provider->provider_name();
    response.asked_model = target.model;
}

} // namespace heddle::providers
