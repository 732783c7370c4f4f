// Servers that speak OpenAI's Chat Completions, by name.
#pragma once

#include <heddle/providers/openai/provider.hpp>

#include <span>
#include <string_view>

namespace heddle::providers::openai {

struct preset {
    std::string_view name;         ///< what users write before the colon
    std::string_view base_url;     ///< of a local server: as it starts without options
    std::string_view key_variable; ///< of the environment; empty: the server asks for no key
    wire_dialect dialect = wire_dialect::compatible;
    bool local = false; ///< runs on the user's machine: costs nothing, and no key is needed
};

/// All of them, sorted by name. Sources: the pages of each service on OpenAI compatibility.
[[nodiscard]] std::span<const preset> presets() noexcept;

/// By name; case, and the signs - . _ do not matter ("llama.cpp" is "llamacpp"). Null: none.
[[nodiscard]] const preset* find_preset(std::string_view name) noexcept;

/// The options of a provider for it. The key, if any, is left to the caller, who knows where keys
/// are kept.
[[nodiscard]] options options_of(const preset& chosen);

} // namespace heddle::providers::openai
