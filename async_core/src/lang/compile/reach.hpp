// What code may name outside itself.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace heddle::lang {

/// Rules for names that code does not define itself (language.md 3: eval with a map, sandbox). The
/// default is a program's: everything. They are checked when code is compiled; what code does when it
/// runs is checked where it asks the host (sandbox_policy).
struct reach {
    bool closed = false; ///< no globals of the program, and no tasks and tools but the allowed
    bool world = true;   ///< of closed code: may it name primitives that reach outside?
    unsigned sandboxes = 0;
    const std::set<std::string, std::less<>>* allowed = nullptr; ///< lives as long as the rules

    [[nodiscard]] bool allows(std::string_view name) const {
        return allowed && allowed->contains(name);
    }
};

} // namespace heddle::lang
