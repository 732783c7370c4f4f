// Places inside a command line, where nothing is substituted.
#pragma once

#include <optional>
#include <string_view>

namespace heddle::tasks {

/// `{{name}}` in a command, which nothing replaces; nothing where there is none. Places of other
/// programs, such as {{.Names}}, are none.
[[nodiscard]] std::optional<std::string_view> place_in_command(std::string_view command);

} // namespace heddle::tasks
