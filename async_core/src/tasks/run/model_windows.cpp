// Context windows of models, as their makers state them (November 2026).
#include "tasks/run/task_session.hpp"

#include <array>

namespace heddle::tasks {

namespace {

struct window_row {
    std::string_view prefix;
    std::int64_t tokens;
};

// The longest prefix wins, so the order does not matter.
constexpr std::array<window_row, 27> windows{{
    {"gpt-5", 400'000},
    {"gpt-4.1", 1'047'576},
    {"gpt-4o", 128'000},
    {"gpt-4-turbo", 128'000},
    {"gpt-4", 8'192},
    {"gpt-3.5-turbo", 16'385},
    {"o1", 200'000},
    {"o1-mini", 128'000},
    {"o3", 200'000},
    {"o4-mini", 200'000},
    {"chatgpt-4o", 128'000},
    {"claude-", 200'000},
    {"gemini-", 1'048'576},
    {"gemini-1.5-pro", 2'097'152},
    {"llama3", 8'192},
    {"llama3.1", 131'072},
    {"llama3.2", 131'072},
    {"llama3.3", 131'072},
    {"mistral-large", 131'072},
    {"mistral-small", 131'072},
    {"mixtral", 32'768},
    {"qwen2.5", 32'768},
    {"qwen3", 40'960},
    {"deepseek-", 65'536},
    {"phi3", 131'072},
    {"phi4", 16'384},
    {"gemma3", 131'072},
}};

} // namespace

std::optional<std::int64_t> window_of_model(std::string_view model) noexcept {
    // "vendor/model", as routers name them.
    if (const auto slash = model.rfind('/'); slash != std::string_view::npos) {
        model.remove_prefix(slash + 1);
    }
    const window_row* best = nullptr;
    for (const window_row& row : windows) {
        if (model.starts_with(row.prefix) && (!best || row.prefix.size() > best->prefix.size())) {
            best = &row;
        }
    }
    return best ? std::optional(best->tokens) : std::nullopt;
}

} // namespace heddle::tasks
