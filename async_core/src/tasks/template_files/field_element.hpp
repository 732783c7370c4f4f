// The value of a setting as an element of a file.
#pragma once

#include "tasks/template_files/element_reading.hpp"

#include <heddle/tasks/definition/field_values.hpp>

#include <optional>

namespace heddle::tasks {

/// Reads the element of a field that is neither a group nor special. Nothing when it is wrong,
/// which is reported then.
[[nodiscard]] std::optional<field_value> read_field_element(const task_field& field,
                                                            const xml_element& element,
                                                            element_reading& read);

} // namespace heddle::tasks
