// The log port: what the libraries write to; the host decides where it goes.
#pragma once

#include <heddle/base/visibility.hpp>

#include <cstdint>
#include <string_view>

namespace HEDDLE_PUBLIC heddle {

enum class log_level : std::uint8_t { trace, debug, info, warn, error, off };

/// Receives log lines. Libraries get a reference and never own or create one.
/// Contract: write() does not throw, does not block for long, and may be called from any thread.
/// Callers never pass keys, Authorization headers or prompts above debug level.
class log_port {
public:
    virtual ~log_port() = default;
    /// True when a line of this level would be kept: ask before building an expensive message.
    [[nodiscard]] virtual bool enabled(log_level level) const noexcept = 0;
    /// `component` is a short fixed name ("http", "script").
    virtual void write(log_level level, std::string_view component,
                       std::string_view message) noexcept = 0;
};

/// Drops everything.
[[nodiscard]] log_port& null_log() noexcept;

} // namespace heddle
