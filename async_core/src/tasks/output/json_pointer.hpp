// JSON pointers (RFC 6901).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tasks {

/// Appends a slash and the name of a member, or the index of an element, with `~` and `/` escaped.
void append_pointer_token(std::string& pointer, std::string_view name);
/// The names and indexes of a pointer.
[[nodiscard]] std::vector<std::string> tokens_of_pointer(std::string_view pointer);

/// The pointer that a fragment of an address denotes, in the form that append_pointer_token()
/// writes.
/// Empty: a percent sign in it begins no escape.
[[nodiscard]] std::optional<std::string> pointer_of_fragment(std::string_view fragment);
/// The reverse, with only percent signs escaped.
[[nodiscard]] std::string fragment_of_pointer(std::string_view pointer);

} // namespace heddle::tasks
