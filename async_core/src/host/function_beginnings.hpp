// Records of the kind `nested`: where a function of the program began, as their bodies have it.
#pragma once

#include <heddle/ports/run_journal.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace heddle::host::function_beginnings {

[[nodiscard]] inline std::string after_slices(std::uint64_t ended) { return std::to_string(ended); }
/// How many slices had ended when it was to begin. Nothing: another record, or one of an earlier
/// version.
[[nodiscard]] inline std::optional<std::uint64_t> slices_of(const ports::step_record& record) {
    if (record.kind != ports::step_kind::nested) return std::nullopt;
    const char* const end = record.body.data() + record.body.size();
    std::uint64_t slices = 0;
    const auto [read, failure] = std::from_chars(record.body.data(), end, slices);
    if (failure != std::errc() || read != end) return std::nullopt;
    return slices;
}

} // namespace heddle::host::function_beginnings
