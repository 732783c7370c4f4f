// The server's side of Ollama's API: requests from bytes, answers to bytes. No I/O.
#pragma once

#include "scripted/served_format.hpp"

namespace heddle::providers::ollama {

[[nodiscard]] const scripted::served_format& served();

} // namespace heddle::providers::ollama
