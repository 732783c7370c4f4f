// What `(semaphore n)` gives.
#pragma once

#include "join.hpp"

#include <cstdint>
#include <functional>
#include <unordered_map>

namespace heddle::lang {

/// Permits that a program takes and returns itself, and who has them.
class semaphore final : public concurrency_scope {
public:
    explicit semaphore(std::size_t permits) : concurrency_scope(permits) {}
    [[nodiscard]] std::string_view type_name() const noexcept override { return "semaphore"; }

    [[nodiscard]] bool has_free() const noexcept { return running() < limit(); }
    /// The branch has taken one more permit, or is about to.
    void note_holder(heap& memory, const branch_place& branch) {
        ++holders_[key_of(branch)];
        ++held_;
        charge_.set(memory, holders_.size() * holder_bytes);
    }
    /// It gives one back.
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
    [[nodiscard]] static bool same(const branch_place& a, const branch_place& b) noexcept {
        return key_of(a) == key_of(b);
    }

private:
    struct holder {
        const void* group; ///< it lives as long as the branch
        std::uint32_t slot;
        [[nodiscard]] bool operator==(const holder&) const = default;
    };
    struct holder_hash {
        [[nodiscard]] std::size_t operator()(const holder& h) const noexcept {
            return std::hash<const void*>()(h.group) * 31 + h.slot;
        }
    };
    [[nodiscard]] static holder key_of(const branch_place& branch) noexcept {
        return {host_of(branch.group), branch.slot};
    }
    static constexpr std::size_t holder_bytes = 56; ///< with what the table takes for one

    std::unordered_map<holder, std::size_t, holder_hash> holders_;
    std::size_t held_ = 0; ///< of all holders
    heap_charge charge_;
};

} // namespace heddle::lang
