// The search for garbage cycles.
#pragma once

#include "object_table.hpp"
#include "references.hpp"

#include <heddle/lang/heap.hpp>

#include <cstddef>
#include <cstdint>

namespace heddle::lang {

/// Finds and frees the garbage cycles of a heap by trial deletion (Bacon and Rajan 2001), in steps
/// between which the program goes on.
///
/// Values are immutable, so a cycle is closed by a cell (a captured variable that was assigned), or
/// by storage that grows in place while an older version of the same list or map is part of what is
/// added. The search therefore begins with these closers and nowhere else.
///
/// What is garbage at the beginning stays so, and nobody changes it: its counts are right however
/// many steps they take, so all of it is found. Of what is alive, counts and references may change
/// between two steps. So the first phases only propose: what they take for garbage is looked at
/// again, each strongly connected part of it within one step, before it is emptied. References
/// never lead from what is alive to garbage, so what is wrong about the former does not touch the
/// latter.
///
/// The search keeps nothing alive: a mark in each object of its table makes the heap call
/// object_died(). Only the table takes memory, 28 bytes for each object, which has 32 or more
/// itself. No limit counts it: it is gone when the search ends, and must not be charged to the
/// sandbox that happens to run meanwhile. Without memory for it the search ends.
/// Threads: one at a time.
class cycle_search {
public:
    explicit cycle_search(heap& memory) noexcept : memory_(memory) {}
    cycle_search(const cycle_search&) = delete;
    cycle_search& operator=(const cycle_search&) = delete;

    /// Does that much work, or a little more: what one host object holds is looked at in one go. So
    /// is a strongly connected part of garbage, once, where it takes more than one step to look at.
    /// Result: whether the search has ended.
    [[nodiscard]] bool step(std::size_t units) noexcept;
    /// Nothing refers to an object of the table any more.
    void object_died(object* target) noexcept;
    /// It is to end without finding anything more.
    void give_up() noexcept;

    /// The work so far, in units: some 50 ns each where objects are spread over much memory.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }
    /// The part that what stays alive took, in one phase.
    [[nodiscard]] std::uint64_t work_on_alive() const noexcept { return work_on_alive_; }
    /// Whether it was given up.
    [[nodiscard]] bool given_up() const noexcept { return given_up_; }

private:
    using index = object_table::index;
    using entry = object_table::entry;
    static constexpr index none = object_table::none;

    enum class phase : std::uint8_t {
        free_dead,
        gather,
        mark_alive,
        order,
        verify,
        count,
        compare,
        empty,
        forget
    };

    void run_phase();
    [[nodiscard]] bool free_dead();
    void gather();
    void add_closer(object* closer);
    void mark_alive();
    void order();
    void visit_first(index first) noexcept;
    void leave_innermost() noexcept;
    void verify();
    void begin_count() noexcept;
    void count();
    void compare();
    void empty();
    [[nodiscard]] bool empty_closer(object* closer);
    void forget() noexcept;
    [[nodiscard]] bool is_known(const object* target) const noexcept;
    void know(object* target);

    heap& memory_;
    object_table table_;
    phase phase_ = phase::free_dead;
    bool ended_ = false;
    bool given_up_ = false;
    work_left left_ = 0; ///< of the step
    std::uint64_t work_ = 0;
    std::uint64_t work_on_alive_ = 0;

    std::size_t cells_left_ = 0; ///< closers that are to be added
    std::size_t grown_left_ = 0;
    index next_ = 0;       ///< entry
    std::uint32_t at_ = 0; ///< among the references of the object that is visited
    index visited_ = none; ///< that object, among what is alive
    index alive_ = none;   ///< what is to be visited, linked
    // The algorithm of Pearce (2016).
    index path_ = none;                   ///< from the innermost object that is visited outwards
    index open_ = none;                   ///< visited, and part of a component that is not complete
    std::uint32_t next_rank_ = 1;         ///< of an object that is visited
    std::uint32_t next_component_ = none; ///< downwards
    index component_ = none;              ///< the first object of the first component
    index component_end_ = none;
    index member_ = none;              ///< of that component
    std::uint64_t verified_since_ = 0; ///< step
    std::uint64_t steps_ = 0;
};

} // namespace heddle::lang
