// A template for new files.
#pragma once

#include <string>

namespace heddle::cli {

/// The text of a file with one template of that name, with comments about its elements.
[[nodiscard]] std::string starter_template(const std::string& name);

} // namespace heddle::cli
