// The context settings in effect for one call of a task.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/tasks/definition/context_settings.hpp>

#include <string_view>

namespace heddle::tasks {

/// Context settings, all of them set.
struct effective_context {
    inherit_mode inherit_context = inherit_mode::full;
    bool accumulate_data = false;
    accumulation accumulation_format = accumulation::notes_only;
    bool fresh_context = false;
    friend bool operator==(const effective_context&, const effective_context&) = default;
};

/// The preset of a subtype (docs/spec/runtime.md §2): standard, director, evaluator and unknown
/// names inherit the whole context; subtask, aider_automatic and aider_interactive inherit the
/// matching parts and look up further files.
[[nodiscard]] effective_context context_preset(std::string_view subtype) noexcept;

/// Refuses a layer that contradicts itself: fresh_context enabled together with inherit_context
/// full or subset, unless that pair is the preset of the subtype. Errors: invalid_argument.
[[nodiscard]] result<void> check_context_layer(std::string_view subtype,
                                               const context_management& layer);

/// Preset, then the layer of the task, then that of the call: for each setting the last layer that
/// sets it applies. When inherit_context and fresh_context then exclude each other, the one from
/// the weaker layer yields: fresh_context becomes disabled, or inherit_context none. A pair that is
/// the preset of the subtype is not a conflict. Errors: as check_context_layer, for the first layer
/// that is wrong.
[[nodiscard]] result<effective_context> merge_context(std::string_view subtype,
                                                      const context_management& of_task,
                                                      const context_management& of_call);

[[nodiscard]] std::string_view to_string(inherit_mode mode) noexcept;
[[nodiscard]] std::string_view to_string(accumulation format) noexcept;

} // namespace heddle::tasks
