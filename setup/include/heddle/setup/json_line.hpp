// JSON as the program prints it.
#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>

namespace heddle::setup {

/// `json` with a line end, for a file, a pipe or a terminal: invalid UTF-8, which a name of a file
/// can hold, becomes U+FFFD, and what JSON leaves as it is although a terminal obeys it (DEL,
/// U+0080 to U+009F, the controls of text that runs from right to left) becomes escapes.
[[nodiscard]] std::string json_line(std::string_view json);
[[nodiscard]] std::string json_line(const boost::json::value& content);

/// `content` as JSON in which a float looks as the language writes it (0.5, not 5E-1) and invalid
/// UTF-8 becomes U+FFFD; for a part of a text, not to be printed as it is.
[[nodiscard]] std::string json_text(const boost::json::value& content);

} // namespace heddle::setup
