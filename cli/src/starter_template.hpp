// A template to begin with.
#pragma once

#include <string>

namespace heddle::cli {

/// The text of a file with one template of that name, which says what can be written where.
[[nodiscard]] std::string starter_template(const std::string& name);

} // namespace heddle::cli
