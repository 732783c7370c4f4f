// What may be done inside a sandbox.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/realm.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace heddle::lang {

/// The limits of one `sandbox` (language.md 3), a setting of its extent: branches and futures started
/// inside carry it too. A sandbox inside another is bound by both.
class sandbox_policy final : public host_object {
public:
    [[nodiscard]] std::string_view type_name() const noexcept override { return "sandbox"; }

    /// Out of the evaluated clauses of the form. `outer`: the sandbox around it, a setting, or nil.
    /// Errors: TypeError that names the limit.
    [[nodiscard]] static result<value> create(heap& memory, const value& clauses,
                                              const value* outer);

    /// Whether the name of a task, tool or primitive that reaches the world is let through, by every
    /// sandbox around.
    [[nodiscard]] bool allows(std::string_view name) const;
    /// Notes a call of a task or tool. Errors: LimitError when there were `calls` of them already.
    [[nodiscard]] result<void> count_call();
    /// Steps until the nearest limit.
    [[nodiscard]] std::uint64_t steps_left() const noexcept;
    void spend(std::uint64_t steps) noexcept;
    /// The heap may grow up to here; SIZE_MAX: no bound of its own.
    [[nodiscard]] std::size_t memory_end() const noexcept;
    /// The sandbox (`self`, which is this one, or one around it) whose limit is reached, or nil; `what`
    /// says which. The outermost one: its end is the end of all.
    [[nodiscard]] value exhausted(const value& self, std::size_t used, std::string& what) const;

    [[nodiscard]] const std::set<std::string, std::less<>>& allowed() const noexcept {
        return allowed_;
    }

private:
    [[nodiscard]] sandbox_policy* outer() const noexcept {
        return static_cast<sandbox_policy*>(host_of(outer_));
    }

    std::set<std::string, std::less<>> allowed_; ///< cut down to what is allowed outside
    std::uint64_t steps_ = UINT64_MAX;           ///< left
    std::uint64_t steps_given_ = UINT64_MAX;
    std::uint64_t calls_ = UINT64_MAX;
    std::uint64_t calls_given_ = UINT64_MAX;
    std::size_t memory_ = SIZE_MAX;
    std::size_t memory_end_ = SIZE_MAX;
    value outer_;
};

/// Whether a value is data through and through: no function, task, future or other handle in it, which
/// could carry what a sandbox forbids to the outside.
[[nodiscard]] bool is_data(const value& v);

} // namespace heddle::lang
