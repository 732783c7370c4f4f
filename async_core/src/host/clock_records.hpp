// Records of the kind `clock`: what their paths say. The second half is how many slices had ended.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>

namespace heddle::host::clock_records {

/// The first half of the path where the clock advanced, or a branch had computed so long.
inline constexpr std::uint64_t after_slices = 0;
/// The same where a record took effect although branches could run: that with the path `content`.
inline constexpr std::uint64_t between_slices = 1;
/// The same, and more, where a time began: the first one since the last slice has ended, and so on.
inline constexpr std::uint64_t first_beginning = 2;

[[nodiscard]] inline bool is_between(const ports::step_record& record) noexcept {
    return record.path.high == between_slices;
}
[[nodiscard]] inline bool is_beginning(const ports::step_record& record) noexcept {
    return record.path.high >= first_beginning;
}

} // namespace heddle::host::clock_records
