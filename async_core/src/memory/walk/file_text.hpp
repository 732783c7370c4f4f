// What is known of a file without reading all of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::memory {

/// True when the first 8 KiB hold a zero byte or are not UTF-8.
[[nodiscard]] bool is_binary(std::string_view bytes) noexcept;

/// By the name: "text/x-c++", "text/markdown"; "text/plain" when nothing is known of it.
[[nodiscard]] std::string_view content_type_of(std::string_view path) noexcept;

/// A description of a file without a written one: name, kind, and the first line that describes
/// something. `text` is not binary.
[[nodiscard]] std::string describe_text(std::string_view path, std::string_view text);

} // namespace heddle::memory
