// The settings of a task for its context, its files and its conversation: data only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

enum class inherit_mode : std::uint8_t { full, subset, none };
enum class accumulation : std::uint8_t { notes_only, full_output };
/// As they are written, in the order of the values.
inline constexpr std::array<std::string_view, 3> inherit_mode_words{"full", "subset", "none"};
inline constexpr std::array<std::string_view, 2> accumulation_words{"notes_only", "full_output"};

/// `<context_management>` of one layer; absent: not set by this layer (docs/spec/runtime.md §2).
struct context_management {
    std::optional<inherit_mode> inherit_context;
    std::optional<bool> accumulate_data;
    std::optional<accumulation> accumulation_format;
    std::optional<bool> fresh_context;

    [[nodiscard]] bool empty() const noexcept {
        return !inherit_context && !accumulate_data && !accumulation_format && !fresh_context;
    }
};

/// `<file_paths>`: where the paths come from.
struct file_paths_source {
    enum class kind : std::uint8_t { literal, command, description, context_description };
    kind from = kind::literal;
    std::vector<std::string> paths; ///< literal only
    std::string text;               ///< command line, or the query with its {{placeholders}}
};

/// An input, and whether it takes part in matching.
struct context_relevance_input {
    std::string name;
    bool include = true;
};

/// `<context_assembly>`: comma-separated names or patterns of parts (paths, globs), in order.
struct context_assembly {
    std::vector<std::string> primary;
    std::vector<std::string> secondary;
    std::vector<std::string> excluded;
};

struct history_config {
    std::optional<bool> use_session_history;
    std::optional<std::int64_t> history_turns_to_include; ///< absent: all
    std::optional<bool> record_in_session_history;
};

/// Bounds of one task execution, including its subtasks; absent: the host's default.
struct resource_limits {
    std::optional<std::int64_t> max_turns;  ///< assistant messages
    std::optional<double> max_context;      ///< fraction of the model's window, above 0, at most 1
    std::optional<std::int64_t> max_output; ///< output tokens over all turns
    std::optional<std::int64_t> max_tokens_total; ///< input and output tokens over all turns
    std::optional<double> max_cost_usd;
};

} // namespace heddle::tasks
