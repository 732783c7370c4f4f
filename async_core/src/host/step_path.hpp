// Names of steps: digests of the way that leads to them.
#pragma once

#include <heddle/base/keyed_hash.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>

namespace heddle::host::step_path {

/// What a number in a path counts.
enum class part : std::uint8_t {
    root = 1,
    group = 2,
    branch = 3,
    step = 4,
    nested = 5,
    wait = 6,
    side = 7 ///< parts of a step that run side by side
};

/// The path that leads on from `outer`. The same in every process and version: paths are kept in
/// journals. Not a defence against forged paths: whoever writes a journal can write anything.
[[nodiscard]] inline ports::digest128 inside(const ports::digest128& outer, part what,
                                             std::uint64_t number) noexcept {
    // Two rounds of the folded product (keyed_hash.hpp) with constants of their own.
    const auto round = [&](std::uint64_t key, std::uint64_t salt) {
        const std::uint64_t kind = static_cast<std::uint64_t>(what) * 0x9E3779B97F4A7C15ULL;
        const std::uint64_t first = folded_product(outer.high ^ key, outer.low ^ kind ^ salt);
        return folded_product(first ^ number ^ salt, key ^ (number + kind) ^ 0x94D049BB133111EBULL);
    };
    return {round(0xA0761D6478BD642FULL, 0xE7037ED1A0B428DBULL),
            round(0x8EBC6AF09C88C6E3ULL, 0x589965CC75374CC3ULL)};
}

} // namespace heddle::host::step_path
