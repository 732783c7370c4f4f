// Servers with the API of OpenAI Chat Completions, by name.
#pragma once

#include <heddle/providers/openai/provider.hpp>

#include <span>
#include <string_view>

namespace heddle::providers::openai {

struct preset {
    std::string_view name;         ///< what users write before the colon
    std::string_view base_url;     ///< of a local server: its default address
    std::string_view key_variable; ///< of the environment; empty: the server needs no key
    wire_dialect dialect = wire_dialect::compatible;
    bool local = false; ///< runs on the user's machine: free of charge, and needs no key
};

/// All of them, sorted by name. Sources: the pages of each service on OpenAI compatibility.
[[nodiscard]] std::span<const preset> presets() noexcept;

/// By name; case and the characters - . _ are ignored ("llama.cpp" is "llamacpp"). Null: none.
[[nodiscard]] const preset* find_preset(std::string_view name) noexcept;

/// The options of a provider for it, without the key, which the caller sets.
[[nodiscard]] options options_of(const preset& chosen);

} // namespace heddle::providers::openai
