// The server's side of OpenAI Responses: requests from bytes, responses to bytes. No I/O.
#pragma once

#include "scripted/formats/served_format.hpp"

namespace heddle::scripted::responses {

[[nodiscard]] const served_format& served();

} // namespace heddle::scripted::responses
