// Extents: parts of a run with a limit of their own. What runs inside one has its mark, a host object,
// in its settings. Once the limit is reached, an error that carries the mark goes through every `catch`
// up to the form that opened the extent, and becomes an ordinary error there.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/value.hpp>

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

/// The settings with a deadline `seconds` from `now`; unchanged when the one in force is earlier.
[[nodiscard]] value with_deadline(heap& memory, value settings, double now, double seconds);
/// The settings of cleanup code, which the deadline around it does not cut.
[[nodiscard]] value without_deadline(heap& memory, const value& settings);
[[nodiscard]] std::optional<double> deadline_of(const value& settings) noexcept;
/// The TimeoutError that leaves the extent of the deadline in force.
[[nodiscard]] error deadline_error(const value& settings);
/// Whether code with these settings runs inside `extent`.
[[nodiscard]] bool is_inside(const value& settings, const value& extent) noexcept;

} // namespace heddle::lang
