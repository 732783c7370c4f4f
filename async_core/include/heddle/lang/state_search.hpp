// Looks for state that programs can change.
#pragma once

#include <heddle/lang/objects.hpp>

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

namespace heddle::lang {

/// Visits values and all that they reach, in search of what can change: variables that functions
/// have closed over and assign, and host objects that are not immutable (semaphores, futures,
/// functions of a sandbox, which share its limits). Values without any can be shared by sessions.
/// Holds no references: the values outlive it. Threads: one at a time.
class state_search final : public host_object::value_visitor {
public:
    /// Searches in a value. Complexity: linear in what it reaches and was not reached before.
    /// Exceptions: bad_alloc.
    void visit(const value& held) override;

    /// What can change, in words; empty: nothing so far.
    [[nodiscard]] const std::string& found() const noexcept { return found_; }

private:
    void add(const value& held);
    void add(object* target);
    void look_inside(object* target);

    std::unordered_set<const object*> seen_;
    std::vector<object*> work_;
    bool searching_ = false;
    std::string found_;
};

} // namespace heddle::lang
