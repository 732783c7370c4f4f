// The server's side of the Gemini API: requests from bytes, responses to bytes. No I/O.
#pragma once

#include "scripted/formats/served_format.hpp"

#include <string_view>

namespace heddle::scripted::gemini {

[[nodiscard]] const served_format& served();

/// True for what follows /models/ in a call: "NAME:generateContent" and its stream.
[[nodiscard]] bool is_call(std::string_view name) noexcept;

} // namespace heddle::scripted::gemini
