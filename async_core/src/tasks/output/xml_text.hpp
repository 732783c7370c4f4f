// Text inside XML that is written.
#pragma once

#include <string>
#include <string_view>

namespace heddle::tasks {

/// Text as it can stand between tags and in attributes.
[[nodiscard]] std::string xml_escaped(std::string_view text);

} // namespace heddle::tasks
