// What to compile for a running program.
#pragma once

#include "compile_watch.hpp"
#include "eval_site.hpp"
#include "name_limits.hpp"

#include <cstdint>

namespace heddle::lang {

struct compile_request {
    const eval_site* site = nullptr; ///< the names around it, or null: the top level
    name_limits limits;
    bool generated = false;         ///< by a program: bound in size
    bool in_one = false;            ///< a top-level import does not split the program
    bool internal_names = false;    ///< a text of our own: it may use names that begin with %
    compile_watch* watch = nullptr; ///< of a program that waits for it
    static constexpr std::uint64_t max_expansion_steps = 10'000'000;
    std::uint64_t expansion_steps = max_expansion_steps; ///< of macros; what is left afterwards
};

} // namespace heddle::lang
