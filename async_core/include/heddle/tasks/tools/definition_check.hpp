// Checks of task definitions as text, for `heddle check`.
#pragma once

#include <heddle/lang/check.hpp>

namespace heddle::tasks {

/// Reads `(defatom …)` and `(deftool …)` as a run would, but reports every wrong clause and every
/// placeholder that is not an input, and registers nothing. Immutable; threads: any.
class definition_check final : public lang::task_definitions {
public:
    [[nodiscard]] std::optional<lang::task_signature> check(
        lang::realm& realm, const lang::value& definition, source_span span,
        std::vector<lang::problem>& problems) const override;
    [[nodiscard]] std::optional<lang::task_signature> signature_of(
        lang::realm& realm, const lang::host_object& callable) const override;
};

} // namespace heddle::tasks
