// The server's side of Anthropic's Messages API: requests from bytes, responses to bytes. No I/O.
#pragma once

#include "scripted/formats/served_format.hpp"

namespace heddle::scripted::anthropic {

[[nodiscard]] const served_format& served();

} // namespace heddle::scripted::anthropic
