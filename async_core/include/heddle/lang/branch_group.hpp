// The position of a branch in the tree of branches, for hosts that keep data for each branch.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/value.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace heddle::lang {

class fiber;

/// A branch: a group (map, parallel, race, the spawns of one scope …) and the index in it.
struct branch_place {
    value group;            ///< a branch_group, or nil: a fiber that start_fiber made
    std::uint32_t slot = 0; ///< in the group; without one: which fiber
};

/// What the host keeps for the branches of a group.
class branch_data {
public:
    virtual ~branch_data() = default;
    /// The branch has ended; it makes no further requests.
    virtual void branch_ended(std::uint32_t slot) noexcept = 0;
    /// All branches have ended, and the one that opened the group continues. `winner`: the only
    /// branch whose result counts.
    virtual void group_ended(std::optional<std::uint32_t> winner) = 0;
};

/// What the host sees of a group. Threads: the session's only.
class branch_group : public host_object {
public:
    /// The branch that opened the group.
    [[nodiscard]] const branch_place& outer() const noexcept { return outer_; }
    /// The mark of the sandbox that it was opened in (sandbox_extent), or nil.
    [[nodiscard]] const value& sandbox() const noexcept { return sandbox_; }
    /// realm::host_events() when the branch began.
    [[nodiscard]] std::uint64_t begun(std::uint32_t slot) const noexcept {
        const auto at = spawns_.find(slot);
        return at != spawns_.end() ? at->second.begun : begun_;
    }
    /// Whether a spawned branch has been awaited.
    [[nodiscard]] bool awaited(std::uint32_t slot) const noexcept {
        const auto at = spawns_.find(slot);
        return at != spawns_.end() && at->second.awaited;
    }
    /// Which of the steps of the branch that opened it (effect_request::ordinal).
    [[nodiscard]] std::uint32_t ordinal() const noexcept { return ordinal_; }
    std::unique_ptr<branch_data> data; ///< the host's; null: nothing is kept
    /// The host's digest of the way that leads to it; zeros: none was computed.
    std::array<std::uint64_t, 2> way{};

    // for the machine
    void set_outer(branch_place outer, std::uint32_t ordinal, std::uint64_t begun, value sandbox) {
        outer_ = std::move(outer);
        ordinal_ = ordinal;
        begun_ = begun;
        sandbox_ = std::move(sandbox);
    }
    /// Adds a spawned branch. Result: its index.
    [[nodiscard]] std::uint32_t add_spawn(heap& memory, std::uint64_t begun) {
        while (!spawns_.try_emplace(next_spawn_, spawn{begun, false}).second) ++next_spawn_;
        charge_spawns_.set(memory, spawns_.size() * spawn_bytes);
        return next_spawn_++;
    }
    void note_awaited(std::uint32_t slot) noexcept {
        if (const auto at = spawns_.find(slot); at != spawns_.end()) at->second.awaited = true;
    }
    /// Forgets a branch that has ended and that nothing can await any more. No effect while the
    /// host keeps data for the group, because that data may refer to the branch.
    void forget_spawn(heap& memory, std::uint32_t slot) noexcept {
        if (data || spawns_.erase(slot) == 0) return;
        charge_spawns_.set(memory, spawns_.size() * spawn_bytes);
    }

    void visit_values(value_visitor& visitor) const override {
        visitor.visit(outer_.group);
        visitor.visit(sandbox_);
    }

private:
    struct spawn {
        std::uint64_t begun;
        bool awaited;
    };
    branch_place outer_;
    value sandbox_;
    std::uint32_t ordinal_ = 0;
    std::uint64_t begun_ = 0;
    static constexpr std::size_t spawn_bytes = 56; ///< with its share of the table
    std::unordered_map<std::uint32_t, spawn> spawns_;
    std::uint32_t next_spawn_ = 0;
    heap_charge charge_spawns_;
};

/// The branch that a fiber runs. Must not be called during a run of the machine.
[[nodiscard]] branch_place place_of(const fiber& self);

} // namespace heddle::lang
