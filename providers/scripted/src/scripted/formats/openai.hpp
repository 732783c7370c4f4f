// The server's side of Chat Completions: requests from bytes, responses to bytes. No I/O.
#pragma once

#include "scripted/formats/served_format.hpp"

namespace heddle::scripted::openai {

[[nodiscard]] const served_format& served();

} // namespace heddle::scripted::openai
