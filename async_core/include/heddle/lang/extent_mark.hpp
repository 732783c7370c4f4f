// Parts of a run with a limit of their own.
#pragma once

#include <heddle/lang/objects.hpp>

#include <limits>

namespace heddle::lang {

/// Bound on the `finally` blocks of one end, all together, in seconds of wall time.
inline constexpr double cleanup_seconds = 5;

/// The mark of an extent (script_payload::extent). Compared by identity. Threads: the session's
/// only.
class extent_mark : public host_object {
public:
    /// When the cleanups that the end of the extent started must be over. First called when it
    /// ends.
    [[nodiscard]] virtual double cleanup_end(double now) noexcept {
        if (end_ == std::numeric_limits<double>::infinity()) end_ = now + cleanup_seconds;
        return end_;
    }
    /// Of an extent of time: when it began. NaN: of none.
    [[nodiscard]] virtual double began() const noexcept {
        return std::numeric_limits<double>::quiet_NaN();
    }

private:
    double end_ = std::numeric_limits<double>::infinity();
};

} // namespace heddle::lang
