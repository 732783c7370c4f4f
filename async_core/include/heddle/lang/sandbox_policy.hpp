// What code inside a sandbox may do.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/counted_extent.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// One `sandbox` form that runs, or in which a function was created that still exists: its clauses,
/// and what is left of its limits. The mark of its extent. Threads: the session's only.
class sandbox_extent final : public extent_mark {
public:
    using name_set = std::set<std::string, std::less<>>;

    [[nodiscard]] std::string_view type_name() const noexcept override { return "sandbox"; }

    std::unique_ptr<extent_ledger> ledger; ///< the host's; created on first use

    /// Ends everything that runs inside, with `failure`: after a refusal or a limit in a
    /// computation that nothing awaits. The error holds no functions or marks: they refer to this,
    /// and nothing would end such a cycle.
    void end_with(error failure);

private:
    friend class sandbox_policy;
    /// What all `finally` code together may take when the steps are used up.
    static constexpr std::uint64_t max_cleanup_steps = 10'000'000;

    /// Counts growth of the heap from here on; nested entries count once.
    void enter(std::size_t used) noexcept;
    void leave(std::size_t used) noexcept;

    name_set allowed_;                 ///< tasks, tools, effects, functions
    name_set models_;                  ///< models and providers that may be chosen
    std::uint64_t steps_ = UINT64_MAX; ///< left
    std::uint64_t steps_given_ = UINT64_MAX;
    std::uint64_t cleanup_steps_ = max_cleanup_steps; ///< left, beyond those
    std::uint64_t calls_ = UINT64_MAX;                ///< left
    std::uint64_t calls_given_ = UINT64_MAX;
    std::size_t memory_ = SIZE_MAX;
    std::size_t memory_left_ = SIZE_MAX;
    std::size_t memory_end_ = SIZE_MAX; ///< the heap may grow up to here
    std::size_t entries_ = 0;
    std::optional<double> seconds_; ///< for each entry from outside
    std::optional<error> ended_;
};

/// The sandboxes that bind a piece of code, outermost first. Code in nested sandboxes is bound by
/// all of them, and so is a function that was created in one sandbox and is called in another.
/// Immutable, except for the counts of the extents.
class sandbox_policy final : public host_object {
public:
    /// Creates a policy from the evaluated clauses of the form, inside `outer` (null: none).
    /// Errors: TypeError that names the clause.
    [[nodiscard]] static result<host_ref<sandbox_policy>> create(
        heap& memory, const value& clauses, const host_ref<sandbox_policy>& outer);
    /// The policy that binds code of `own` when it is called from code of `caller` (null: of no
    /// sandbox).
    [[nodiscard]] static host_ref<sandbox_policy> joined(heap& memory,
                                                         const host_ref<sandbox_policy>& own,
                                                         const host_ref<sandbox_policy>& caller);

    [[nodiscard]] std::string_view type_name() const noexcept override { return "sandbox"; }
    void visit_values(value_visitor& visitor) const override;

    /// The sandbox that the code belongs to.
    [[nodiscard]] const host_ref<sandbox_extent>& own() const noexcept { return own_; }
    [[nodiscard]] bool is_bound_by(const value& mark) const noexcept;
    /// Whether every sandbox that binds `other` binds this too.
    [[nodiscard]] bool is_within(const sandbox_policy& other) const noexcept;

    /// The outermost sandbox that allows none of the `names` of a task, tool, builtin or function;
    /// nil: all allow one.
    [[nodiscard]] value refusing(std::span<const std::string_view> names) const;
    [[nodiscard]] bool allows(std::string_view name) const { return refusing({&name, 1}).is_nil(); }
    /// As refusing(), for the choice of a model or provider.
    [[nodiscard]] value refusing_model(std::string_view name) const;
    /// The PermissionError if code may not choose that model or provider; else nothing.
    [[nodiscard]] std::optional<error> refuse_model(std::string_view name) const;
    /// Counts a call of a task or tool. Errors: the LimitError that leaves the sandbox whose
    /// `calls` are used up.
    [[nodiscard]] result<void> count_call();

    /// Steps until the nearest limit.
    [[nodiscard]] std::uint64_t steps_left() const noexcept;
    /// Beyond the limit, only code of a `finally` goes on.
    void spend(std::uint64_t steps) noexcept;
    /// The outermost sandbox whose steps are used up, and those of its cleanups; nil: none.
    [[nodiscard]] value used_up_by_cleanups() const;
    /// The heap may grow up to here; SIZE_MAX: no bound.
    [[nodiscard]] std::size_t memory_end() const noexcept;
    /// The bytes that the sandbox which ends there was given; SIZE_MAX: no bound.
    [[nodiscard]] std::size_t memory_given() const noexcept;
    /// The shortest time limit of the sandboxes that do not bind `caller`; empty: none of them has
    /// one.
    [[nodiscard]] std::optional<double> seconds(const sandbox_policy* caller) const noexcept;
    /// Execution continues as code of `to` instead of `from`; null: of no sandbox.
    static void moved(const sandbox_policy* from, const sandbox_policy* to,
                      std::size_t used) noexcept;
    /// The error of the outermost sandbox that sandbox_extent::end_with has ended; empty: none.
    [[nodiscard]] std::optional<error> ended() const;
    /// The outermost sandbox whose steps are used up, or whose memory ends below `used`; nil: none.
    /// `what`: which of both.
    [[nodiscard]] value exhausted(std::size_t used, std::string& what) const;

    static constexpr std::size_t max_nested = 64;

private:
    template <class Refuses>
    [[nodiscard]] value outermost(Refuses&& refuses) const;

    std::vector<host_ref<sandbox_extent>> extents_;
    host_ref<sandbox_extent> own_;
};

} // namespace heddle::lang
