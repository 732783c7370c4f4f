// A task's request to run another one (docs/spec/runtime.md §5).
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/tasks/call/task_call.hpp>
#include <heddle/tasks/definition/task_registry.hpp>

#include <optional>
#include <string>
#include <vector>

namespace heddle::tasks {

struct task_chain;

/// A request that was read and found to be one.
struct subtask_request {
    std::string type;
    std::string description;
    lang::value inputs; ///< a map
    std::string name;
    std::string subtype;
    std::vector<std::string> hints;
    lang::value context;    ///< context_management as it was given, or nil
    lang::value file_paths; ///< list of strings, or nil
    std::optional<std::int64_t> max_depth;
};

/// Errors: TaskError input_validation_failure that names the field: it is missing, unknown, or of
/// the wrong type.
[[nodiscard]] result<subtask_request> read_subtask_request(const lang::value& given);

/// By name; else by type:subtype; else the best match of description and hints.
/// Errors: TaskError template_not_found, with near names.
[[nodiscard]] result<const registered_task*> choose_template(const task_registry& tasks,
                                                             const subtask_request& request);

/// The CONTINUATION that a result is, or null: its notes.subtask_request.
[[nodiscard]] const lang::value* continuation_of(const lang::value& result) noexcept;

} // namespace heddle::tasks
