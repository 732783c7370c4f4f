#include <heddle/providers/openai/presets.hpp>

#include <heddle/base/ascii.hpp>

#include <array>

namespace heddle::providers::openai {

namespace {

constexpr auto other = wire_dialect::compatible;

constexpr std::array table = {
    preset{"cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"},
    preset{"deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"},
    preset{"deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
    preset{"fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"},
    preset{"groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
    preset{"huggingface", "https://router.huggingface.co/v1", "HF_TOKEN"},
    preset{"llama.cpp", "http://127.0.0.1:8080/v1", "", other, true},
    preset{"lmstudio", "http://127.0.0.1:1234/v1", "", other, true},
    preset{"mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", wire_dialect::mistral},
    preset{"nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"},
    preset{"ollama-openai", "http://127.0.0.1:11434/v1", "", other, true},
    preset{"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", wire_dialect::openai},
    preset{"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
    preset{"perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY"},
    preset{"sglang", "http://127.0.0.1:30000/v1", "", other, true},
    preset{"together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"},
    preset{"vllm", "http://127.0.0.1:8000/v1", "", other, true},
    preset{"xai", "https://api.x.ai/v1", "XAI_API_KEY"},
};

/// The next character that matters, in lower case; 0 at the end.
char next_of(std::string_view& text) noexcept {
    while (!text.empty()) {
        const char c = text.front();
        text.remove_prefix(1);
        if (c == '-' || c == '.' || c == '_') continue;
        return ascii::to_lower(c);
    }
    return 0;
}

bool same_name(std::string_view one, std::string_view two) noexcept {
    for (;;) {
        const char c = next_of(one);
        if (c != next_of(two)) return false;
        if (c == 0) return true;
    }
}

} // namespace

std::span<const preset> presets() noexcept { return table; }

const preset* find_preset(std::string_view name) noexcept {
    for (const preset& one : table) {
        if (same_name(one.name, name)) return &one;
    }
    return nullptr;
}

options options_of(const preset& chosen) {
    options result;
    result.name = chosen.name;
    result.base_url = chosen.base_url;
    result.dialect = chosen.dialect;
    return result;
}

} // namespace heddle::providers::openai
