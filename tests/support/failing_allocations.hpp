// Allocations that fail when a test asks for it.
#pragma once

#include <cstdint>

namespace heddle::testing {

/// Which allocations of a thread fail. A test program that wants them to has
/// `#include <failing_allocations.ipp>` in one of its sources.
class failing_allocations {
public:
    /// The n-th allocation from here on fails (1: the next one), and `burst - 1` after it; 0: none.
    static void plan(std::uint64_t n, std::uint64_t burst = 1) noexcept {
        first_ = n;
        burst_ = burst;
        seen_ = failed_ = 0;
    }
    /// Of the plan so far.
    [[nodiscard]] static std::uint64_t failed() noexcept { return failed_; }

    /// Within such a scope they are counted and fail; in the inner one of the other kind they do
    /// not.
    class scope {
    public:
        explicit scope(bool may_fail) noexcept : outer_(active_) { active_ = may_fail; }
        ~scope() { active_ = outer_; }
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;

    private:
        bool outer_;
    };

    /// For the hooks.
    [[nodiscard]] static bool next_fails() noexcept {
        if (!active_ || first_ == 0) return false;
        ++seen_;
        if (seen_ < first_ || seen_ >= first_ + burst_) return false;
        ++failed_;
        return true;
    }

private:
    static inline thread_local bool active_ = false;
    static inline thread_local std::uint64_t first_ = 0;
    static inline thread_local std::uint64_t burst_ = 0;
    static inline thread_local std::uint64_t seen_ = 0;
    static inline thread_local std::uint64_t failed_ = 0;
};

} // namespace heddle::testing
