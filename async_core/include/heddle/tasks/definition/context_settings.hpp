// The settings of a task for its context, its files and its conversation: data only. The members
// that task_settings.def declares are documented there.
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
/// fresh_context: true, then false.
inline constexpr std::array<std::string_view, 2> fresh_context_words{"enabled", "disabled"};

/// `<context_management>` of one layer; absent: not set by this layer (docs/spec/runtime.md §2).
struct context_management {
#define HEDDLE_CONTEXT_SETTING(type, name, ...) type name;
#include <heddle/tasks/definition/task_settings.def>

    friend bool operator==(const context_management&, const context_management&) = default;
    [[nodiscard]] bool empty() const noexcept { return *this == context_management(); }
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
#define HEDDLE_ASSEMBLY_SETTING(name, ...) std::vector<std::string> name;
#include <heddle/tasks/definition/task_settings.def>
};

/// `<history_config>`: how a task takes part in the conversation of its session.
struct history_config {
#define HEDDLE_HISTORY_SETTING(type, name, ...) type name;
#include <heddle/tasks/definition/task_settings.def>
};

/// Bounds of one task execution, including its subtasks; absent: the host's default.
struct resource_limits {
#define HEDDLE_LIMIT(type, name, ...) type name;
#include <heddle/tasks/definition/task_settings.def>
};

} // namespace heddle::tasks
