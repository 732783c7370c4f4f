// Extents: parts of a run with a limit of their own. The scope of what runs inside one knows its mark, a
// host object. Once the limit is reached, an error that carries the mark goes through every `catch` up
// to the form that opened the extent, and becomes an ordinary error there.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/dynamic_scope.hpp>
#include <heddle/lang/objects.hpp>

#include <optional>

namespace heddle::lang {

/// The mark of an extent of time. Its identity counts.
class time_extent final : public host_object {
public:
    explicit time_extent(double seconds) : seconds_(seconds) {}
    [[nodiscard]] std::string_view type_name() const noexcept override { return "extent"; }
    [[nodiscard]] double seconds() const noexcept { return seconds_; }

private:
    double seconds_;
};

/// Gives a scope that opens a deadline `seconds` from `now`; the one in force stays if it is earlier.
void set_deadline(heap& memory, dynamic_scope& scope, double now, double seconds);
/// The scope of cleanup code, which the deadline around it does not cut.
[[nodiscard]] scope_ref without_deadline(heap& memory, const scope_ref& scope);
/// The TimeoutError that leaves the extent of the deadline in force.
[[nodiscard]] error deadline_error(const dynamic_scope& scope);

} // namespace heddle::lang
