// Counts the steps of a run, and may cancel it at one of them.
#pragma once

#include <heddle/coro/cancel.hpp>
#include <heddle/host/run_options.hpp>

#include <cstdint>
#include <optional>

namespace heddle::testing {

/// Observes one run: `options.observer = &watch; options.cancel = &watch.cancel`. It outlives the
/// run.
class step_watch final : public host::slice_observer {
public:
    /// `cancel_at`: the number of steps after which the run is cancelled; empty: never.
    explicit step_watch(std::optional<std::uint64_t> cancel_at = {}) : cancel_at_(cancel_at) {
        if (cancel_at_ == std::uint64_t{0}) cancel.request(cancel_reason::user);
    }
    void after_slice(std::uint64_t so_far) noexcept override {
        if (slices_++ == 0) first = so_far;
        steps = so_far;
        if (cancel_at_ && steps >= *cancel_at_) cancel.request(cancel_reason::user);
    }
    [[nodiscard]] bool cancels() const noexcept { return cancel_at_.has_value(); }

    coro::cancel_source cancel;
    std::uint64_t steps = 0;
    std::uint64_t first = 0; ///< of the first slice: of its compilation, as a rule

    /// Where to cancel a run of that kind, as one of `samples` places all over it; 0 is before its
    /// start.
    [[nodiscard]] std::uint64_t place(std::uint64_t sample, std::uint64_t samples) const noexcept {
        return sample == 0 ? 0 : first + (steps - first) * sample / samples;
    }

private:
    std::optional<std::uint64_t> cancel_at_;
    std::uint64_t slices_ = 0;
};

} // namespace heddle::testing
