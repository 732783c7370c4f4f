// The assembled context of one task.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// The source of the paths of a context; of several, the strongest.
enum class context_source : std::uint8_t {
    explicit_request, ///< the call named files
    task_template,    ///< the template named files ("template" in notes)
    automatic_lookup, ///< the memory chose files, because fresh context is enabled
    inherited,        ///< all of it comes from the caller
    none
};

[[nodiscard]] std::string_view to_string(context_source source) noexcept;

/// A document of a context. The text is shared by all contexts that hold it.
struct context_part {
    std::string path;
    std::shared_ptr<const std::string> text;
};

/// The documents for a task, besides its prompt. Immutable; kept by everything that the task
/// starts, which may inherit it.
struct assembled_context {
    std::string text;                  ///< for the system prompt; empty: there is no context
    std::vector<context_part> parts;   ///< as in `text`, in that order
    std::vector<std::string> left_out; ///< paths that did not fit
    std::vector<std::string> warnings; ///< for notes.warnings
    context_source source = context_source::none;
};

} // namespace heddle::tasks
