// Extents whose limit the host counts: money, calls of models.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::lang {

/// What the host keeps for an extent.
class extent_ledger {
public:
    virtual ~extent_ledger() = default;
};

/// The mark that `with` puts into the settings of its body for `budget-usd` and `max-calls`. Everything
/// that runs inside has it in its settings, branches and futures included; one inside another is bound
/// by both. An error with this extent (with_extent) is caught outside of the form only.
/// Threads: the session's only.
class counted_extent final : public host_object {
public:
    counted_extent(std::optional<double> usd, std::optional<std::uint64_t> calls, value outer)
        : usd_(usd), calls_(calls), outer_(std::move(outer)) {}

    [[nodiscard]] std::string_view type_name() const noexcept override { return "extent"; }
    [[nodiscard]] std::optional<double> usd() const noexcept { return usd_; }
    [[nodiscard]] std::optional<std::uint64_t> calls() const noexcept { return calls_; }
    /// The one around, a value as innermost() gives, or nil.
    [[nodiscard]] const value& outer() const noexcept { return outer_; }

    /// What counts in settings, or nil. The pointer that host_as<counted_extent> gives is the mark's.
    [[nodiscard]] static value innermost(const value& settings);
    /// The settings with a further extent inside those that are there.
    [[nodiscard]] static value open(heap& memory, value settings, std::optional<double> usd,
                                    std::optional<std::uint64_t> calls);

    std::unique_ptr<extent_ledger> ledger; ///< the host's; made when it first counts

private:
    std::optional<double> usd_;
    std::optional<std::uint64_t> calls_;
    value outer_;
};

/// For what the host runs in the name of a program, such as a tool that a model calls: the error when
/// a sandbox in these settings does not allow it by any of its names, or counts too many calls. Nothing:
/// it may run, and has been counted.
[[nodiscard]] std::optional<error> refused_by_sandbox(const value& settings, std::string_view name);

} // namespace heddle::lang
