// The body of (with ((conversation true)) ...).
#pragma once

#include <heddle/lang/counted_extent.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace heddle::lang {

/// The value of the setting `conversation` inside the form, where the host keeps the turns.
/// Threads: the session's only.
class conversation_extent final : public host_object {
public:
    /// `opened`: the host event that opened the form. `sandbox`: the mark of the enclosing sandbox,
    /// or nil.
    conversation_extent(std::uint64_t opened, value sandbox)
        : opened_(opened), sandbox_(std::move(sandbox)) {}

    [[nodiscard]] std::string_view type_name() const noexcept override { return "conversation"; }
    void visit_values(value_visitor& visitor) const override { visitor.visit(sandbox_); }

    /// Groups of branches opened before this event enclose the form.
    [[nodiscard]] std::uint64_t opened() const noexcept { return opened_; }
    [[nodiscard]] const value& sandbox() const noexcept { return sandbox_; }

    std::unique_ptr<extent_ledger> ledger; ///< the host's; created on first use

private:
    std::uint64_t opened_;
    value sandbox_;
};

} // namespace heddle::lang
