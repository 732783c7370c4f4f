// The settings that a definition sets, and where.
#pragma once

#include <heddle/base/source.hpp>

#include <utility>
#include <vector>

namespace heddle::tasks {

struct task_field;

/// The rows of task_fields() that a definition sets. Distinguishes a default that was written from
/// an absent setting, and keeps the position of each for errors. Plain data.
class given_fields {
public:
    /// Adds a field; a second call replaces the span.
    void add(const task_field& field, source_span span = {});
    [[nodiscard]] bool contains(const task_field& field) const noexcept;
    /// Where the definition sets the field; unknown if it does not.
    [[nodiscard]] source_span span_of(const task_field& field) const noexcept;
    /// Drops the positions and keeps the fields, for a template that outlives its source.
    void clear_spans() noexcept;

private:
    std::vector<std::pair<const task_field*, source_span>> fields_;
};

} // namespace heddle::tasks
