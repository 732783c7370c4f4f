// Walks over data that shares parts.
#pragma once

#include "lang/value/window_table.hpp"

#include <heddle/lang/objects.hpp>

namespace heddle::lang {

/// The lists and maps that a walk over data has been at. A value that holds the same part twice at
/// each of 60 levels is small, and has 2^60 paths: who walks over data walks each part once.
class seen_lists {
public:
    /// False when the part was seen before. `part` is where it is held: a copy would count as a
    /// second place. Parts that stand in one place only cost nothing.
    [[nodiscard]] bool first_time(const value& part) {
        const object* storage = part.target();
        if (!storage || storage->references == 1) return true;
        return seen_.emplace(window_of(part), {}).second;
    }

private:
    struct nothing {};
    window_table<nothing> seen_;
};

} // namespace heddle::lang
