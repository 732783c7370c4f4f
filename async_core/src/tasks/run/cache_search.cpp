#include "tasks/run/cache_search.hpp"

#include <utility>

namespace heddle::tasks {

bool cache_search::is_possible(const ports::chat_request& request,
                               const ports::llm_port& provider) noexcept {
    const ports::cache_use use = request.scheduling.cache;
    const bool looks = use == ports::cache_use::shared || use == ports::cache_use::apart;
    return looks && provider.keeps_responses();
}

bool cache_search::may_look_first(const ports::chat_request& request,
                                  const ports::llm_port& provider) const noexcept {
    return !looked_ && is_possible(request, provider);
}

void cache_search::look_first(ports::chat_request& request) noexcept {
    looking_ = looked_ = true;
    usual_ = std::exchange(request.scheduling.cache, ports::cache_use::kept);
}

bool cache_search::found_nothing(ports::chat_request& request,
                                 const result<ports::chat_response>& response) noexcept {
    const bool looking = std::exchange(looking_, false);
    if (looking) request.scheduling.cache = usual_;
    const bool nothing = looking && !response && !response.error().is_cancelled();
    looked_ = nothing; // the next request of the task is another one
    return nothing;
}

void cache_search::look_instead(ports::chat_request& request, spent_budget over) {
    usual_ = std::exchange(request.scheduling.cache, ports::cache_use::kept);
    spent_ = std::move(over);
}

std::optional<spent_budget> cache_search::found_nothing_instead(
    ports::chat_request& request, const result<ports::chat_response>& response) {
    if (!spent_) return std::nullopt;
    request.scheduling.cache = usual_;
    std::optional<spent_budget> over = std::exchange(spent_, std::nullopt);
    if (response || response.error().is_cancelled()) over.reset();
    return over;
}

} // namespace heddle::tasks
