// JSON that the program has kept, within JSON that it prints.
#pragma once

#include <boost/json/fwd.hpp>

#include <string_view>

namespace heddle::cli {

/// The value of a JSON text, with its numbers as they are; `text` as a string if it is not JSON, or
/// nested deeper than 1000 levels.
[[nodiscard]] boost::json::value json_or_text(std::string_view text);

} // namespace heddle::cli
