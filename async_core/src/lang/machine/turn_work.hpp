// The work of a computation that runs in turns on a native stack of its own.
#pragma once

#include "native_stack.hpp"

#include <heddle/lang/work.hpp>

#include <cstdint>

namespace heddle::lang {

/// Yields at the end of each turn, and stops the computation once it is abandoned.
class turn_work : public work_meter {
protected:
    /// `stack`: where the computation runs. It may be constructed after this.
    explicit turn_work(native_stack& stack) noexcept
        : work_meter(units_between_looks), runs_on_(stack) {}
    ~turn_work() = default;

private:
    /// Less than a builtin may do where it is called. Who drives the job looks at the clock after
    /// each of its turns, and lets it go on until others are to have theirs: a short one costs
    /// little, and a unit that takes thirty times as long as it should, because each meets memory
    /// that is new or far away, does no harm.
    static constexpr std::uint64_t units_between_looks = units_of_a_turn / 4;

    /// On the worker's stack: the turn is over.
    bool pass() override {
        if (!stopped_ && runs_on_.give_way()) {
            until_ = done_ + units_between_looks;
            return true;
        }
        stopped_ = true;
        return false;
    }
    bool foresee(std::uint64_t) override { return true; }

    native_stack& runs_on_;
};

} // namespace heddle::lang
