// What `(semaphore n)` returns.
#pragma once

#include "join.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace heddle::lang {

/// Permits that a program takes and returns itself, and who has them.
class semaphore final : public concurrency_scope {
public:
    /// Identifies a living branch.
    struct branch_key {
        const void* group; ///< it lives as long as the branch
        std::uint32_t slot;
        [[nodiscard]] bool operator==(const branch_key&) const = default;
    };
    struct branch_hash {
        [[nodiscard]] std::size_t operator()(const branch_key& key) const noexcept {
            return std::hash<const void*>()(key.group) * 31 + key.slot;
        }
    };
    using branch_set = std::unordered_set<branch_key, branch_hash>;
    [[nodiscard]] static branch_key key_of(const branch_place& branch) noexcept {
        return {host_of(branch.group), branch.slot};
    }

    explicit semaphore(std::size_t permits) : concurrency_scope(permits) {}
    [[nodiscard]] std::string_view type_name() const noexcept override { return "semaphore"; }

    [[nodiscard]] bool has_free() const noexcept { return running() < limit(); }
    /// The branch has taken one more permit, or is about to.
    void note_holder(heap& memory, const branch_place& branch) {
        ++holders_[key_of(branch)];
        ++held_;
        charge_.set(memory, holders_.size() * holder_bytes);
    }
    /// It releases one.
    void forget_holder(heap& memory, const branch_place& branch) noexcept {
        const auto at = holders_.find(key_of(branch));
        if (at == holders_.end()) return;
        --held_;
        if (--at->second != 0) return;
        holders_.erase(at);
        charge_.set(memory, holders_.size() * holder_bytes);
    }
    /// No permit is on its way from one branch to another.
    [[nodiscard]] bool all_held() const noexcept { return held_ == limit(); }
    /// How many branches hold some.
    [[nodiscard]] std::size_t holders() const noexcept { return holders_.size(); }
    [[nodiscard]] bool is_held_by(const branch_place& branch) const noexcept {
        return holders_.contains(key_of(branch));
    }
    /// One of these holds some.
    [[nodiscard]] bool is_held_by_any(const branch_set& branches) const noexcept {
        if (holders_.size() < branches.size()) {
            return std::any_of(holders_.begin(), holders_.end(),
                               [&](const auto& each) { return branches.contains(each.first); });
        }
        return std::any_of(branches.begin(), branches.end(),
                           [&](const branch_key& each) { return holders_.contains(each); });
    }

private:
    static constexpr std::size_t holder_bytes = 56; ///< with what the table takes for one

    std::unordered_map<branch_key, std::size_t, branch_hash> holders_;
    std::size_t held_ = 0; ///< of all holders
    heap_charge charge_;
};

} // namespace heddle::lang
