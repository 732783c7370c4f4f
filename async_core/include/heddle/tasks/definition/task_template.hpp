// A task as data: what defatom, a file or the host declares. The settings, with their types and
// documentation, are the rows of task_settings.def.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/tasks/definition/context_settings.hpp>
#include <heddle/tasks/definition/given_fields.hpp>
#include <heddle/tasks/definition/request_parameters.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// An input of a task.
struct task_input {
    std::string name;
    std::string type; ///< as written, "" if absent; for people and tools
    std::string description;
    bool optional = false;                   ///< true also when there is a default
    std::optional<std::string> default_json; ///< JSON text of the value of a missing input
    std::string from{};                      ///< another name by which a call may pass it
};

/// How the response is read.
struct output_format {
    bool json = false;
    /// "" (any JSON), a basic name (object, array, [], string[], number[], number, boolean, string)
    /// or the text of a JSON Schema.
    std::string schema;
    /// The same for the check of the response, where that accepts more than is asked for; "": the
    /// schema above.
    std::string accepted = {};
};

/// The settings of a task that a call may override; "" and absent: not set.
struct task_settings {
#define HEDDLE_CALL_SETTING(type, name, ...) type name;
#include <heddle/tasks/definition/task_settings.def>

    context_management context;
    history_config history;
};

/// Everything that is declared about one task; "" and absent: not set. Plain data that belongs to
/// no session and can be shared between shards. `compile_task` (compiled_task.hpp) checks it and
/// makes it runnable.
struct task_template : task_settings {
    static constexpr std::string_view default_description = "Inline task definition";

#define HEDDLE_TASK_SETTING(type, name, ...) type name;
#define HEDDLE_TASK_STRING(name, value, ...) std::string name{value};
#include <heddle/tasks/definition/task_settings.def>

    std::string name;
    std::string type = "atomic";
    std::vector<task_input> inputs;
    bool declares_inputs = false;  ///< false: any input is accepted, by clause only
    request_parameters parameters; ///< those without a member of their own here
    output_format output;
    std::optional<file_paths_source> files;
    std::vector<context_relevance_input> relevance;
    context_assembly assembly;
    resource_limits limits;
    std::string ref;    ///< name of another template whose values fill what is absent here
    std::string source; ///< where it was read, "tasks/review.xml:3"; "" if not from a file
    source_span span;   ///< of the definition
    given_fields given; ///< what a definition sets, and where; empty in templates made in C++
};

/// Reads `(defatom name (params p…) (instructions "…") clause…)` (docs/spec/language.md §4).
/// Errors: SexpEvaluationError naming the clause, with its position.
[[nodiscard]] result<task_template> parse_defatom(const lang::value& form, source_span span);

/// Bounds of the lists and strings of a definition, which a model may have written.
struct template_limits {
    static constexpr std::size_t max_inputs = 1000;
    static constexpr std::size_t max_text = 16 * 1024 * 1024;
    static constexpr std::uint32_t max_retries = 100;
};

} // namespace heddle::tasks
