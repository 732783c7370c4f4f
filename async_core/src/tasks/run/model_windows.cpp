// Context windows and longest outputs of models, as their makers state them (November 2026).
#include "tasks/run/task_session.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace heddle::tasks {

namespace {

struct model_row {
    std::string_view prefix;
    std::int64_t tokens;
};

// The longest prefix wins, so the order does not matter.
constexpr std::array<model_row, 27> windows{{
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

constexpr std::array<model_row, 28> outputs{{
    {"gpt-5", 128'000},
    {"gpt-4.1", 32'768},
    {"gpt-4o", 16'384},
    {"gpt-4o-2024-05-13", 4'096},
    {"gpt-4-turbo", 4'096},
    {"gpt-4", 8'192},
    {"gpt-3.5-turbo", 4'096},
    {"o1", 100'000},
    {"o1-mini", 65'536},
    {"o1-preview", 32'768},
    {"o3", 100'000},
    {"o4-mini", 100'000},
    {"chatgpt-4o", 16'384},
    {"claude-3-opus", 4'096},
    {"claude-3-sonnet", 4'096},
    {"claude-3-haiku", 4'096},
    {"claude-3-5", 8'192},
    {"claude-3-7", 64'000},
    {"claude-opus-4", 32'000},
    {"claude-opus-4-5", 64'000},
    {"claude-sonnet-4", 64'000},
    {"claude-haiku-4", 64'000},
    {"gemini-1.5", 8'192},
    {"gemini-2.0", 8'192},
    {"gemini-2.5", 65'536},
    {"gemini-3", 65'536},
    {"deepseek-chat", 8'192},
    {"deepseek-reasoner", 65'536},
}};

/// The tokens of the longest prefix.
template <class Rows>
[[nodiscard]] std::optional<std::int64_t> tokens_in(const Rows& rows,
                                                    std::string_view model) noexcept {
    // "vendor/model", as routers name them.
    if (const auto slash = model.rfind('/'); slash != std::string_view::npos) {
        model.remove_prefix(slash + 1);
    }
    const model_row* best = nullptr;
    if (model.empty()) return std::nullopt;
    for (const model_row& row : rows) {
        if (row.prefix.front() != model.front()) continue; // most of them
        if (model.starts_with(row.prefix) && (!best || row.prefix.size() > best->prefix.size())) {
            best = &row;
        }
    }
    return best ? std::optional(best->tokens) : std::nullopt;
}

/// What is known of one model. Most runs use a single one, and ask with each call.
struct known_model {
    std::array<char, 64> name{};
    std::size_t name_size = 0;
    std::optional<std::int64_t> window;
    std::optional<std::int64_t> output;
};

[[nodiscard]] const known_model& find(std::string_view model) noexcept {
    thread_local known_model last;
    if (model == std::string_view(last.name.data(), last.name_size)) return last;
    // A name that is too long for the memory is kept as none, so it is looked up again.
    last.name_size =
        model.size() <= last.name.size() ? model.copy(last.name.data(), model.size()) : 0;
    last.window = tokens_in(windows, model);
    last.output = tokens_in(outputs, model);
    return last;
}

} // namespace

std::optional<std::int64_t> window_of_model(std::string_view model) noexcept {
    return model.empty() ? std::nullopt : find(model).window;
}

std::optional<std::int64_t> output_of_model(std::string_view model) noexcept {
    return model.empty() ? std::nullopt : find(model).output;
}

} // namespace heddle::tasks
