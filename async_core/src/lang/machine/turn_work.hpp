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
        : work_meter(units_of_a_turn), runs_on_(stack) {}
    ~turn_work() = default;

private:
    /// On the worker's stack: the turn is over.
    bool pass() override {
        if (!stopped_ && runs_on_.give_way()) {
            until_ = done_ + units_of_a_turn;
            return true;
        }
        stopped_ = true;
        return false;
    }
    bool foresee(std::uint64_t) override { return true; }

    native_stack& runs_on_;
};

} // namespace heddle::lang
