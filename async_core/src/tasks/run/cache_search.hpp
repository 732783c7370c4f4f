// Requests that are made for a cached response only.
#pragma once

#include "tasks/call/spending.hpp"

#include <heddle/ports/llm_port.hpp>

#include <optional>

namespace heddle::tasks {

/// A cached response costs nothing: it is looked for before a call would wait for a budget, and
/// once a budget is used up. Then the request has cache_use::kept; a response or its absence sets
/// it back.
class cache_search {
public:
    /// Whether `provider` has a cache that `request` may use.
    [[nodiscard]] static bool is_possible(const ports::chat_request& request,
                                          const ports::llm_port& provider) noexcept;

    /// Whether a request that would wait for a budget may look for a response first: once.
    [[nodiscard]] bool may_look_first(const ports::chat_request& request,
                                      const ports::llm_port& provider) const noexcept;
    void look_first(ports::chat_request& request) noexcept;
    /// After each response. True: it was looked for and there is none; the request is made again,
    /// and paid for.
    [[nodiscard]] bool found_nothing(ports::chat_request& request,
                                     const result<ports::chat_response>& response) noexcept;

    /// `over` is used up: only a cached response can be had.
    void look_instead(ports::chat_request& request, spent_budget over);
    /// After each response. The budget that was used up when there was no cached response.
    [[nodiscard]] std::optional<spent_budget> found_nothing_instead(
        ports::chat_request& request, const result<ports::chat_response>& response);

private:
    ports::cache_use usual_ = ports::cache_use::shared; ///< of the request, while it is changed
    bool looking_ = false;
    bool looked_ = false; ///< for the present request
    std::optional<spent_budget> spent_;
};

} // namespace heddle::tasks
