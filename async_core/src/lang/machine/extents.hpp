// Extents: parts of a run with a limit of their own. The scope of what runs inside one knows its
// mark, a host object. Once the limit is reached, an error that carries the mark goes through every
// `catch` up to the form that opened the extent, and becomes an ordinary error there.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/dynamic_scope.hpp>
#include <heddle/lang/extent_mark.hpp>

#include <optional>

namespace heddle::lang {

/// The mark of an extent of time, which ends `seconds` after `now`.
class time_extent final : public extent_mark {
public:
    time_extent(double now, double seconds, bool of_sandbox)
        : began_(now), seconds_(seconds), end_(now + seconds),
          cleanup_end_(of_sandbox ? end_ : end_ + cleanup_seconds) {}
    [[nodiscard]] std::string_view type_name() const noexcept override { return "extent"; }
    [[nodiscard]] double began() const noexcept override { return began_; }
    [[nodiscard]] double seconds() const noexcept { return seconds_; }
    [[nodiscard]] double end() const noexcept { return end_; }
    /// Code in a sandbox has no time beyond what it was given.
    [[nodiscard]] double cleanup_end(double) noexcept override { return cleanup_end_; }

private:
    double began_;
    double seconds_;
    double end_;
    double cleanup_end_;
};

/// Returns a scope that opens an extent of time; the deadline in force stays if it is earlier.
void set_deadline(heap& memory, dynamic_scope& scope, double now, double seconds,
                  bool of_sandbox = false);
/// The scope of cleanup code, which the deadline around it does not cut.
[[nodiscard]] scope_ref without_deadline(heap& memory, const scope_ref& scope);
/// The TimeoutError of an extent of time, without its mark.
[[nodiscard]] error end_of_time(const time_extent& ended);
/// The TimeoutError that leaves the extent of the deadline in force.
[[nodiscard]] error deadline_error(const dynamic_scope& scope);

} // namespace heddle::lang
