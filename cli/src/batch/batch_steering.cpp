#include "batch/batch_steering.hpp"

#include <chrono>

namespace heddle::cli {

namespace {

constexpr std::chrono::seconds grace(30); ///< of rows in progress

} // namespace

void batch_steering::attach(batch_run& batch) {
    batch_ = &batch;
    if (concurrency_) batch.set_concurrency(*concurrency_);
    if (budget_) batch.set_budget(*budget_);
    if (paused_) batch.pause(true);
    if (cancelled_) batch.drain(stop_cause::cancelled, grace);
}

void batch_steering::pause(bool paused) {
    paused_ = paused;
    if (batch_) batch_->pause(paused);
}

void batch_steering::cancel() {
    if (batch_) return batch_->drain(stop_cause::cancelled, grace);
    cancelled_ = true;
    on_cancel_();
}

void batch_steering::set_concurrency(std::size_t rows) {
    concurrency_ = rows;
    if (batch_) batch_->set_concurrency(rows);
}

void batch_steering::set_budget(double dollars) {
    budget_ = dollars;
    if (batch_) batch_->set_budget(dollars);
}

batch_counts batch_steering::counts() const {
    if (batch_) return batch_->counts();
    batch_counts none;
    none.loading = program_;
    if (paused_) none.waits_for = waits_for_resume;
    return none;
}

} // namespace heddle::cli
