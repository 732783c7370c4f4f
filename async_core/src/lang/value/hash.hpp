// A hash that agrees with values_equal.
#pragma once

#include "lang/value/window_table.hpp"

#include <heddle/lang/heap.hpp>
#include <heddle/lang/value.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heddle::lang {

/// Hashes values through and through. Equal values have equal hashes: 1, 1.0 and true among them,
/// and maps whatever the order of their keys. Each part that is held in several places is hashed
/// once as long as this lives, and so must the values. Linear, iterative; seeded by the heap's key.
class value_hasher {
public:
    value_hasher(const heap& memory, work_meter& work) : key_(memory.hash_seed()), work_(work) {}

    /// Nothing when the work stops.
    [[nodiscard]] std::optional<std::uint64_t> hash(const value& v);
    /// Forgets some of what it knows; false: there was nothing. Nothing else may follow.
    [[nodiscard]] bool drop_some() noexcept { return known_.drop_some(); }

private:
    struct frame {
        const value* content;
        std::size_t next = 0;
        std::uint64_t sum; ///< so far
    };

    [[nodiscard]] std::optional<std::uint64_t> known(const value& v);
    [[nodiscard]] std::uint64_t hash_leaf(const value& v) const noexcept;
    [[nodiscard]] std::uint64_t take_in(std::uint64_t part);
    [[nodiscard]] std::uint64_t mixed(std::uint64_t a, std::uint64_t b) const noexcept;

    hash_key key_;
    work_meter& work_;
    std::vector<frame> frames_;
    window_table<std::uint64_t> known_;
};

} // namespace heddle::lang
