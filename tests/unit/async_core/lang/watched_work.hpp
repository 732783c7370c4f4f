// Work that a test watches.
#pragma once

#include <heddle/lang/work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace heddle::lang::testing {

/// Counts, and looks every 1024 units; may say no at the first look.
class watched_work final : public work_meter {
public:
    explicit watched_work(bool refuses = false) : work_meter(turn), refuses_(refuses) {}

    std::size_t looks = 0;
    std::uint64_t longest = 0; ///< units between two looks

private:
    static constexpr std::uint64_t turn = 1024;
    bool pass() override {
        ++looks;
        longest = std::max(longest, done_ - (until_ - turn));
        until_ = done_ + turn;
        stopped_ = refuses_;
        return !refuses_;
    }
    bool foresee(std::uint64_t) override { return true; }
    bool refuses_;
};

inline double seconds_of_processor() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

} // namespace heddle::lang::testing
