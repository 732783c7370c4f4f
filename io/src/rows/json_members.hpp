// Members of a value for the columns of a table.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::rows {

/// A value of JSON as the text of a cell: a string without its quotes, another value as it is.
[[nodiscard]] std::string cell_of(std::string_view json);
/// For each name the cell of that member; nothing where the object has none. Invalid text, or a
/// value of another kind, has no members.
[[nodiscard]] std::vector<std::optional<std::string>> cells_of(
    std::string_view json, const std::vector<std::string>& names);

} // namespace heddle::rows
