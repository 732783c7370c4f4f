// The server's side of Ollama's API: requests from bytes, responses to bytes. No I/O.
#pragma once

#include "scripted/formats/served_format.hpp"

namespace heddle::scripted::ollama {

[[nodiscard]] const served_format& served();

} // namespace heddle::scripted::ollama
