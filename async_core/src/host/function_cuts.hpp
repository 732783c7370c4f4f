// Records of the kind `cut` that are about functions of the program: what their paths say.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <cstdint>

namespace heddle::host::function_cuts {

/// The first half of the path of a cut that came while branches ran; the second: how many slices
/// had ended.
inline constexpr std::uint64_t after_slices = 1;
/// The same of a function that did not begin.
inline constexpr ports::digest128 not_begun{2, 0};
/// The same of one that began all the same when the step was continued.
inline constexpr ports::digest128 begun_later{3, 0};

/// Whether the record is about the function with the path `content`.
[[nodiscard]] inline bool is_one(const ports::step_record& record) noexcept {
    return record.kind == ports::step_kind::cut && !record.content.is_zero();
}
[[nodiscard]] inline bool is_by_slices(const ports::step_record& record) noexcept {
    return is_one(record) && record.path.high == after_slices;
}
[[nodiscard]] inline bool is_not_begun(const ports::step_record& record) noexcept {
    return is_one(record) && record.path == not_begun;
}
[[nodiscard]] inline bool is_begun_later(const ports::step_record& record) noexcept {
    return is_one(record) && record.path == begun_later;
}
/// The time of a task has cut the function.
[[nodiscard]] inline bool is_end_of_time(const ports::step_record& record) noexcept {
    return is_one(record) && !is_not_begun(record) && !is_begun_later(record);
}

} // namespace heddle::host::function_cuts
