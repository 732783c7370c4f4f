// What `with` sets for task calls.
#pragma once

#include <heddle/lang/conversation_extent.hpp>
#include <heddle/lang/dynamic_scope.hpp>
#include <heddle/ports/llm_port.hpp>
#include <heddle/tasks/definition/request_parameters.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace heddle::tasks {

/// Views into the scope, which outlives them.
struct call_settings {
    std::string_view model;
    std::string_view provider;
    request_parameters parameters;
    std::optional<std::uint32_t> retries;
    bool raise_failures = false;
    ports::cache_use cache = ports::cache_use::shared;
    bool no_conversation = false;                      ///< `(conversation false)`
    lang::conversation_extent* conversation = nullptr; ///< of the innermost form that opened one
};

[[nodiscard]] call_settings read_call_settings(const lang::dynamic_scope& scope);

} // namespace heddle::tasks
