// The log of the host.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/runtime_options.hpp>

#include <memory>

namespace heddle::embed {

/// Writes to runtime_options::log.
[[nodiscard]] std::unique_ptr<log_port> make_host_log(const runtime_options& options);

} // namespace heddle::embed
