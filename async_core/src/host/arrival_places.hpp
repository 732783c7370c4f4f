// Where answers and functions arrived, as the records of a row have it.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <optional>

namespace heddle::host::arrival_places {

/// The `part` of a record that arrived while branches could run, or others waited for their turns:
/// how many slices had ended.
[[nodiscard]] inline ports::digest128 after_slices(std::uint64_t ended) noexcept {
    return {1, ended};
}
/// Nothing: no branch could run, so it had its turn at once; or it is another record.
[[nodiscard]] inline std::optional<std::uint64_t> slices_of(
    const ports::step_record& record) noexcept {
    const bool arrives = ports::ends_a_step(record) || record.kind == ports::step_kind::nested;
    return arrives && record.part.high == 1 ? std::optional(record.part.low) : std::nullopt;
}

} // namespace heddle::host::arrival_places
