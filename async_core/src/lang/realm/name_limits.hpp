// What code may name outside itself.
#pragma once

#include <heddle/lang/sandbox_policy.hpp>

#include <string_view>

namespace heddle::lang {

/// Rules for names that code does not define itself (eval with a map, sandbox). The default is a
/// program's: everything. They are checked when code is compiled; what code does when it runs is
/// checked where it asks the host (sandbox_policy).
struct name_limits {
    bool closed = false; ///< no globals of the program, and no tasks and tools but the allowed
    bool harness = true; ///< of closed code: may it name builtins that reach outside?
    unsigned sandboxes = 0;
    const sandbox_policy* sandbox = nullptr; ///< lives as long as the rules

    [[nodiscard]] bool allows(std::string_view name) const {
        return sandbox && sandbox->allows(name);
    }
};

} // namespace heddle::lang
