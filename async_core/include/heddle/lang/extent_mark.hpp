// Parts of a run with a limit of their own.
#pragma once

#include <heddle/lang/objects.hpp>

#include <limits>

namespace heddle::lang {

/// What all `finally` blocks of one end may take together, in seconds of wall time.
inline constexpr double cleanup_seconds = 5;

/// The mark of an extent (script_payload::extent). Its identity counts. Threads: the session's
/// only.
class extent_mark : public host_object {
public:
    /// When the cleanups that the end of the extent began must be over; asked first when it ends.
    [[nodiscard]] virtual double cleanup_end(double now) noexcept {
        if (end_ == std::numeric_limits<double>::infinity()) end_ = now + cleanup_seconds;
        return end_;
    }

private:
    double end_ = std::numeric_limits<double>::infinity();
};

} // namespace heddle::lang
