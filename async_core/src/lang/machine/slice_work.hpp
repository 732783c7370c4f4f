// The work of builtins in a slice.
#pragma once

#include <heddle/lang/work.hpp>

#include <algorithm>

namespace heddle::lang {

/// Counts what builtins do while they run on the machine's own stack. Many that are short end the
/// slice early. One that is long is stopped, and begins anew as a job: less than two turns are
/// lost, and nothing when it announces beforehand that it will take long.
class slice_work final : public work_meter {
public:
    slice_work() noexcept : work_meter(0) {}

    /// From here on so many units may be done before the clock and the limits are looked at.
    void begin(std::uint64_t units) noexcept {
        until_ = done_ + std::min(units, units_of_a_turn);
        over_ = stopped_ = false;
    }
    /// Counts work that is done and was not to be stopped.
    void note(std::uint64_t units) noexcept {
        done_ += units;
        if (done_ <= until_) return;
        over_ = true;
        until_ = done_ + units_of_a_turn;
    }
    /// The limits are to be looked at.
    [[nodiscard]] bool over() const noexcept { return over_; }
    /// What was done since the last call, in steps.
    [[nodiscard]] std::uint64_t take_steps() noexcept {
        const std::uint64_t steps = (done_ - paid_) / units_of_a_step;
        paid_ += steps * units_of_a_step;
        return steps;
    }

private:
    bool pass() override {
        if (!over_) { // the builtin under way may be a short one
            over_ = true;
            until_ = done_ + units_of_a_turn;
            return true;
        }
        stopped_ = true;
        return false;
    }
    bool foresee(std::uint64_t work) override {
        over_ = true;
        stopped_ = work > units_of_a_turn;
        if (!stopped_) until_ = std::max(until_, done_ + work); // it will not be stopped for that
        return !stopped_;
    }

    std::uint64_t paid_ = 0;
    bool over_ = false;
};

} // namespace heddle::lang
