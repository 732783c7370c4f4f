// Extents whose limit the host counts: money, calls of models.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/extent_mark.hpp>
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

/// The mark that `with` puts into the scope of its body for `budget-usd` and `max-calls`. Nested
/// extents bind together. An error with this extent (with_extent) is caught outside of the form
/// only.
/// Threads: the session's only.
class counted_extent final : public extent_mark {
public:
    counted_extent(std::optional<double> usd, std::optional<std::uint64_t> calls,
                   host_ref<counted_extent> outer)
        : usd_(usd), calls_(calls), outer_(std::move(outer)) {}

    [[nodiscard]] std::string_view type_name() const noexcept override { return "extent"; }
    [[nodiscard]] std::optional<double> usd() const noexcept { return usd_; }
    [[nodiscard]] std::optional<std::uint64_t> calls() const noexcept { return calls_; }
    /// The enclosing extent, or null.
    [[nodiscard]] const host_ref<counted_extent>& outer() const noexcept { return outer_; }
    void visit_values(value_visitor& visitor) const override { visitor.visit(outer_.as_value()); }

    std::unique_ptr<extent_ledger> ledger; ///< the host's; created on first use

private:
    std::optional<double> usd_;
    std::optional<std::uint64_t> calls_;
    host_ref<counted_extent> outer_;
};

} // namespace heddle::lang
