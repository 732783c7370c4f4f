#include "batch/steering/batch_steering.hpp"

#include <chrono>

namespace heddle::cli {

namespace {

constexpr std::chrono::seconds grace(30); ///< of rows in progress

} // namespace

void batch_steering::attach(batch_run& batch) {
    batch_ = &batch;
    batch.set_limits(limits_);
    if (paused_) batch.pause(true);
    if (cancelled_) batch.drain(stop_cause::cancelled, grace);
}

void batch_steering::pause(bool paused) {
    paused_ = paused;
    if (batch_) batch_->pause(paused);
}

void batch_steering::cancel() {
    cancelled_ = true;
    if (batch_) return batch_->drain(stop_cause::cancelled, grace);
    on_cancel_();
}

void batch_steering::set(const run_limits& limits) {
    on_set_(limits);
    if (batch_) return batch_->set_limits(limits);
    for (const auto& [name, value] : limits) limits_.insert_or_assign(name, value);
}

batch_counts batch_steering::counts() const {
    if (batch_) return batch_->counts();
    batch_counts none;
    none.loading = program_;
    if (paused_) none.waits_for = waits_for_resume;
    return none;
}

} // namespace heddle::cli
