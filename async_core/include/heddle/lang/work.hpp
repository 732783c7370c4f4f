// Work that is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace heddle::lang {

/// Counts the work of a computation that may take long, and lets others have their turn meanwhile. A
/// unit of work takes about 10 ns: an element, a comparison, 16 bytes of text.
/// Threads: one at a time.
class work_meter {
public:
    work_meter(const work_meter&) = delete;
    work_meter& operator=(const work_meter&) = delete;

    /// So much was done since the last call, or is done next. False: stop at once, nobody wants the
    /// result any more (a limit, a timeout, a cancellation), or it is computed anew elsewhere.
    [[nodiscard]] bool spend(std::uint64_t work) {
        done_ += work;
        return done_ <= until_ || pass();
    }
    /// As spend, for so many bytes of text.
    [[nodiscard]] bool spend_bytes(std::size_t bytes) { return spend(bytes / bytes_of_a_unit); }
    /// So much is going to be spent. False as above: what takes long need not be begun in vain. True:
    /// a computation that may begin anew is not stopped before so much was spent.
    [[nodiscard]] bool expect(std::uint64_t work) {
        return work + done_ <= until_ || foresee(work);
    }
    [[nodiscard]] std::uint64_t done() const noexcept { return done_; }
    /// spend() or expect() said no.
    [[nodiscard]] bool stopped() const noexcept { return stopped_; }

    static constexpr std::size_t bytes_of_a_unit = 16;
    static constexpr std::uint64_t units_of_a_step = 8; ///< steps are what limits count
    /// What may be done without a look at the clock.
    static constexpr std::uint64_t units_of_a_turn = 64 * 1024;

protected:
    explicit work_meter(std::uint64_t until) noexcept : until_(until) {}
    ~work_meter() = default;

    /// More was done than may be without a look at the limits.
    [[nodiscard]] virtual bool pass() = 0;
    /// More is going to be done than that.
    [[nodiscard]] virtual bool foresee(std::uint64_t work) = 0;

    std::uint64_t done_ = 0;
    std::uint64_t until_;
    bool stopped_ = false;
};

/// Work that nobody bounds, for hosts.
class free_work final : public work_meter {
public:
    free_work() noexcept : work_meter(std::numeric_limits<std::uint64_t>::max()) {}

private:
    bool pass() override { return true; }
    bool foresee(std::uint64_t) override { return true; }
};

} // namespace heddle::lang
