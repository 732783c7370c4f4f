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
        steps = so_far;
        if (cancel_at_ && steps >= *cancel_at_) cancel.request(cancel_reason::user);
    }
    coro::cancel_source cancel;
    std::uint64_t steps = 0;

private:
    std::optional<std::uint64_t> cancel_at_;
};

} // namespace heddle::testing
