// Metering of computations that may take long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace heddle::lang {

/// Counts the work of a computation that may take long, and lets others run meanwhile. A unit of
/// work takes about 10 ns: an element, a comparison, 16 bytes of a string. Threads: one at a time.
class work_meter {
public:
    work_meter(const work_meter&) = delete;
    work_meter& operator=(const work_meter&) = delete;

    /// Spends `work` units that were done since the last call or are done next. Result: false when
    /// the computation must stop at once, because its result is no longer wanted (a limit, a
    /// timeout, a cancellation) or because it is repeated elsewhere.
    [[nodiscard]] bool spend(std::uint64_t work) {
        done_ += work;
        return done_ <= until_ || pass();
    }
    /// As spend(), for `bytes` bytes of a string.
    [[nodiscard]] bool spend_bytes(std::size_t bytes) { return spend(bytes / bytes_of_a_unit); }
    /// Announces that `work` units are about to be spent. Result: false as for spend(), before a
    /// long computation has begun in vain; true: a computation that may be repeated is not stopped
    /// before it has spent these units.
    [[nodiscard]] bool expect(std::uint64_t work) {
        return work + done_ <= until_ || foresee(work);
    }
    [[nodiscard]] std::uint64_t done() const noexcept { return done_; }
    /// Whether spend() or expect() has returned false.
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

    static constexpr std::size_t bytes_of_a_unit = 16;
    static constexpr std::uint64_t units_of_a_step = 8; ///< steps are what limits count
    /// Units that may be spent between two checks of the clock.
    static constexpr std::uint64_t units_of_a_turn = 64 * 1024;

protected:
    explicit work_meter(std::uint64_t until) noexcept : until_(until) {}
    ~work_meter() = default;

    /// Called when more was spent than is allowed between two checks of the limits. Result: as
    /// spend().
    [[nodiscard]] virtual bool pass() = 0;
    /// Called when more than that is about to be spent. Result: as expect().
    [[nodiscard]] virtual bool foresee(std::uint64_t work) = 0;

    std::uint64_t done_ = 0;
    std::uint64_t until_;
    bool stopped_ = false;
};

/// Unlimited work, for hosts.
class free_work final : public work_meter {
public:
    free_work() noexcept : work_meter(std::numeric_limits<std::uint64_t>::max()) {}

private:
    bool pass() override { return true; }
    bool foresee(std::uint64_t) override { return true; }
};

} // namespace heddle::lang
