// The context of one task as it was put together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// Where the paths of a context came from; the strongest, when there are several.
enum class context_source : std::uint8_t {
    explicit_request, ///< the call named files
    task_template,    ///< the template did ("template" in notes)
    automatic_lookup, ///< the memory was asked because fresh context is enabled
    inherited,        ///< all of it is the caller's
    none
};

[[nodiscard]] std::string_view to_string(context_source source) noexcept;

/// A document of a context. The text is shared by all contexts that hold it.
struct context_part {
    std::string path;
    std::shared_ptr<const std::string> text;
};

/// What a task is given besides its prompt. Immutable once made; kept by everything that the task
/// starts, which may inherit it.
struct assembled_context {
    std::string text;                  ///< for the system prompt; empty: there is no context
    std::vector<context_part> parts;   ///< as in `text`, in that order
    std::vector<std::string> left_out; ///< paths that did not fit
    std::vector<std::string> warnings; ///< for notes.warnings
    context_source source = context_source::none;
};

} // namespace heddle::tasks
