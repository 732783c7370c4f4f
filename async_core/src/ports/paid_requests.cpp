// What requests that came to nothing have cost.
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/llm_port.hpp>

#include <memory>
#include <utility>

namespace heddle::ports {

namespace {

[[nodiscard]] const partial_response* payload_of(const error& failure) noexcept {
    return dynamic_cast<const partial_response*>(failure.info().payload.get());
}

/// Whether the connection was never there.
[[nodiscard]] bool was_not_reached(const error& failure) noexcept {
    for (const error* each = &failure; each; each = each->info().cause.get()) {
        if (each->code().category() != http_category()) continue;
        switch (static_cast<http_errc>(each->code().value())) {
        case http_errc::resolve_failed:
        case http_errc::connect_failed:
        case http_errc::tls_failed:
        case http_errc::connect_timeout:
        case http_errc::proxy_refused: return true;
        default: return false;
        }
    }
    return false;
}

} // namespace

std::size_t bytes_of(const chat_response& response) noexcept {
    std::size_t bytes = response.text.size();
    // The model does not write why a filter has stopped it.
    if (response.finish != finish_reason::content_filter) bytes += response.refusal.size();
    for (const tool_call& call : response.tool_calls) {
        bytes += call.name.size() + call.arguments_json.size();
    }
    for (const reasoning_part& part : response.reasoning) bytes += part.text.size();
    return bytes;
}

const chat_response* part_of(const error& failure) noexcept {
    const partial_response* payload = payload_of(failure);
    if (!payload) return nullptr;
    return payload->so_far.usage || bytes_of(payload->so_far) != 0 ? &payload->so_far : nullptr;
}

std::uint32_t attempts_of(const error& failure) noexcept {
    const bool never_sent = failure.code() == make_error_code(llm_errc::configuration);
    return failure.info().attempts.value_or(never_sent ? 0 : 1);
}

bool is_unpaid(const error& failure) noexcept {
    const partial_response* payload = payload_of(failure);
    if (attempts_of(failure) == 0 || (payload && payload->all_lost)) return true;
    if (part_of(failure) || (payload && payload->unread != 0)) return false;
    if (failure.code().category() != llm_category()) return false;
    switch (static_cast<llm_errc>(failure.code().value())) {
    case llm_errc::invalid_request:
    case llm_errc::authentication:
    case llm_errc::permission:
    case llm_errc::not_found:
    case llm_errc::rate_limit:
    case llm_errc::quota:
    case llm_errc::overloaded:
    case llm_errc::content_refused:
    case llm_errc::configuration: return true;
    default: return was_not_reached(failure);
    }
}

const std::vector<lost_request>& lost_with(const error& failure) noexcept {
    static const std::vector<lost_request> none;
    const partial_response* payload = payload_of(failure);
    return payload ? payload->so_far.lost : none;
}

void add_lost(std::vector<lost_request>& lost, const error& failure) {
    const std::vector<lost_request>& earlier = lost_with(failure);
    lost.insert(lost.end(), earlier.begin(), earlier.end());
    if (is_unpaid(failure)) return;
    const partial_response* payload = payload_of(failure);
    if (!payload) {
        lost.emplace_back();
        return;
    }
    // Even if nothing has arrived, a route has recorded who was asked.
    const chat_response& part = payload->so_far;
    lost.push_back({part.provider, part.model, part.usage, bytes_of(part) + payload->unread,
                    part.asked_model});
}

void add_lost(std::vector<lost_request>& lost, const chat_response& response) {
    lost.insert(lost.end(), response.lost.begin(), response.lost.end());
    if (response.attempts == 0) return;
    lost.push_back({response.provider, response.model, response.usage, bytes_of(response),
                    response.asked_model});
}

error with_lost(error failure, std::vector<lost_request> lost) {
    if (lost.empty()) return failure;
    const partial_response* payload = payload_of(failure);
    auto object = std::make_shared<partial_response>(payload ? payload->so_far : begun_response());
    if (payload) {
        object->all_lost = payload->all_lost;
        object->unread = payload->unread;
    }
    object->so_far.lost.insert(object->so_far.lost.begin(), lost.begin(), lost.end());
    return std::move(failure).with_payload(std::move(object));
}

error with_received(error failure, std::size_t bytes) {
    if (bytes == 0) return failure;
    auto object = std::make_shared<partial_response>(begun_response());
    object->unread = bytes;
    return std::move(failure).with_payload(std::move(object));
}

error with_nothing_sent(error failure) {
    if (payload_of(failure) || is_unpaid(failure)) return failure;
    auto object = std::make_shared<partial_response>(begun_response());
    object->all_lost = true;
    return std::move(failure).with_payload(std::move(object));
}

error with_other_attempts(error failure, std::uint32_t others) {
    if (others == 0) return failure;
    const bool unpaid = is_unpaid(failure);
    const std::uint32_t attempts = attempts_of(failure) + others;
    if (!unpaid) return std::move(failure).with_attempts(attempts);
    std::vector<lost_request> lost = lost_with(failure);
    return between_attempts(std::move(failure), std::move(lost), attempts);
}

error ended_after(error why, const error& failed, std::vector<lost_request> lost,
                  std::uint32_t attempts) {
    if (is_unpaid(failed)) {
        const std::vector<lost_request>& before = lost_with(failed);
        lost.insert(lost.end(), before.begin(), before.end());
        return between_attempts(std::move(why), std::move(lost), attempts);
    }
    const partial_response* payload = payload_of(failed);
    auto object =
        std::make_shared<partial_response>(payload ? *payload : partial_response(begun_response()));
    object->so_far.lost.insert(object->so_far.lost.begin(), lost.begin(), lost.end());
    return std::move(why).with_attempts(attempts).with_payload(std::move(object));
}

error between_attempts(error failure, std::vector<lost_request> lost, std::uint32_t attempts) {
    auto object = std::make_shared<partial_response>(begun_response());
    object->all_lost = true;
    object->so_far.lost = std::move(lost);
    return std::move(failure).with_attempts(attempts).with_payload(std::move(object));
}

} // namespace heddle::ports
