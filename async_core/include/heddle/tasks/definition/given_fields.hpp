// Which settings a definition gives, and where.
#pragma once

#include <heddle/base/source.hpp>

#include <utility>
#include <vector>

namespace heddle::tasks {

struct task_field;

/// The rows of task_fields() that a definition gives. It tells a default that was written from a
/// setting that is absent, and keeps the place of each for errors. Plain data.
class given_fields {
public:
    /// Notes a field; a second note of it replaces the span.
    void add(const task_field& field, source_span span = {});
    [[nodiscard]] bool contains(const task_field& field) const noexcept;
    /// Where the definition gives the field; unknown when it does not.
    [[nodiscard]] source_span span_of(const task_field& field) const noexcept;
    /// Keeps which fields there are, for a template that outlives its source.
    void clear_spans() noexcept;

private:
    std::vector<std::pair<const task_field*, source_span>> fields_;
};

} // namespace heddle::tasks
