// Runs programs on the machine alone: no Asio, a virtual clock, and schedules of every kind.
#pragma once

#include <heddle/lang/compile.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/realm.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle::lang::testing {

/// How a program is run.
struct schedule {
    std::uint32_t slice = 2000;  ///< 1: every call and back-edge ends a slice
    bool split = false;          ///< inline branches become fibers at the end of each slice
    bool moved = false;          ///< stacks and frames move at each run() and each time they grow
    std::int64_t cancel_at = -1; ///< ask for cancellation before that run() of the machine
    std::size_t concurrency = 64;
    bool outlived = false; ///< branches may end after the main fiber: it may have to be given up
    std::uint64_t steps = UINT64_MAX;
    std::uint64_t cleanup_steps = 10'000'000;
    std::size_t memory = std::size_t{256} * 1024 * 1024;
};

/// A realm with the prelude, the effects `(pause n)` (answers n at virtual time n from now),
/// `(fail-after n message)`, `(note x)` (appends to `notes`), `(sleep n)`, `(%jitter round)` (0.5),
/// and a driver for them. Only within the machine do allocations fail (failing_allocations.hpp).
class lang_harness final : public host_names, private fiber_driver {
public:
    lang_harness();
    ~lang_harness() override;

    /// Runs a program; the outcome's kind is done, failed or cancelled.
    outcome run(const std::string& program, const schedule& how = {});
    /// As run, written: the value, or "Kind: message".
    std::string shown(const std::string& program, const schedule& how = {});

    realm harness;
    std::vector<std::string> notes;
    std::size_t peak_pending = 0; ///< effects that waited at the same time
    std::size_t peak_fibers = 0;
    std::size_t searches = 0;        ///< for garbage cycles, seen under way between two runs
    std::uint64_t peak_searched = 0; ///< their work in one call of machine::run, in units
    std::size_t peak_freed = 0;      ///< objects, in one call of machine::run
    std::int64_t runs = 0;           ///< calls of machine::run in the last program
    bool stuck = false;              ///< the last program could not go on: a bug
    std::size_t permits = 0; ///< of the run's scope that were not given back at its end: a bug
    double clock() const { return clock_; }

    const builtin* find_effect(std::string_view name) const override;
    std::optional<operator_info> find_operator(heap& memory, std::string_view name) const override;
    std::optional<operator_info> describe_callable(const host_object& callable) const override;
    bool is_reserved_key(std::string_view name) const override;
    double now() const override { return clock_; }
    void collect_names(std::vector<std::string>& names) const override;

private:
    struct pending {
        fiber* self;
        double at;
        std::uint64_t order;
        bool cut = false; ///< by the deadline of the fiber
    };
    void wake(fiber& ready) noexcept override;
    void cancel_effect(fiber& waiting) noexcept override;
    void begin_effect(fiber& self);
    void answer(const pending& due);
    bool pass_time();
    static outcome step(fiber& self, run_budget& budget, std::uint32_t slice);
    outcome step_measured(fiber& self, run_budget& budget, std::uint32_t slice);
    void adopt(std::unique_ptr<fiber> child);

    double clock_ = 0;
    std::uint64_t order_ = 0;
    std::vector<pending> pending_;
    std::deque<fiber*> ready_;
    std::vector<std::unique_ptr<fiber>> fibers_;
};

} // namespace heddle::lang::testing
