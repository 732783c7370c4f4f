// The table of the settings of tasks, in docs/reference/templates.md.
#pragma once

#include <heddle/base/error.hpp>

#include <string>

namespace heddle::cli {

/// One row for each of tasks::task_fields(), as Markdown.
[[nodiscard]] std::string settings_table();

/// The page with the table between its lines `<!-- settings -->` and `<!-- end of settings -->`.
/// Errors: invalid_argument if it does not have them.
[[nodiscard]] result<std::string> with_settings_table(std::string page);

} // namespace heddle::cli
