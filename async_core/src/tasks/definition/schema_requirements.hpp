// Names that a schema requires and does not describe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

struct undescribed_name {
    std::string name;
    std::string pointer;                 ///< of the name in `required`, as a JSON pointer
    std::vector<std::string> properties; ///< that the same schema describes, for suggestions
};

/// The names in `required` that the `properties` of the same schema do not contain. Empty for what
/// is not a JSON Schema. Schemas that are combined (`allOf`, `$ref`, …) or that allow
/// `additionalProperties` explicitly may describe the name elsewhere: nothing is found there or
/// below. Complexity: that of reading the schema, and the names times the properties.
[[nodiscard]] std::vector<undescribed_name> undescribed_names(std::string_view schema);

} // namespace heddle::tasks
