// Which row of a batch starts next.
#include "batch/execution/batch_run.hpp"

#include <algorithm>
#include <utility>

namespace heddle::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto max_outage = 1h;
/// Where no row of this process was answered: rather a mistake in the settings.
constexpr auto max_first_outage = 60s;
constexpr std::size_t max_left = 16'384; ///< rows, and their bytes
constexpr std::size_t max_left_bytes = std::size_t{64} << 20;

} // namespace

std::unique_ptr<row_job> batch_run::next_to_start() {
    const auto now = of_.tools.loop().now();
    const auto is_due = [now](const auto& job) { return job->not_before <= now; };
    auto due = std::find_if(retries_.begin(), retries_.end(), is_due);
    const bool has_next = next_ && has_room();
    if (!has_next && due == retries_.end()) return nullptr;
    if (services_.last_longer_than(max_outage, max_first_outage, now))
        gate_.stop(stop_cause::outage);
    gate_.set_spent(spent_now(),
                    of_.parking ? of_.parking->open_spending() : ports::step_spending());
    if (has_responses_ && used_up_ == stop_cause::none) {
        used_up_ = gate_.used_up();
        if (used_up_ != stop_cause::none) last_used_up_ = used_up_;
    }
    if (used_up_ != stop_cause::none && !gate_.bounds().until.passed(now)) return next_to_reuse();
    if (gate_.ask(now) != gate_answer::start) return nullptr;
    bool probe = false;
    bool others_start = false;
    if (!services_.is_closed()) {
        others_start = services_.lets_others_start(gate_.bounds().concurrency);
        probe = services_.take_probe(now);
        if (!probe && !others_start) return nullptr;
    }
    if (others_start) {
        // Rows that a service has failed show whether it is back; the others get on meanwhile.
        const auto fitting = std::find_if(retries_.begin(), retries_.end(), [&](const auto& job) {
            return is_due(job) && job->waits_for_service == probe;
        });
        if (!probe || has_next || fitting != retries_.end()) due = fitting;
        if (!has_next && due == retries_.end()) return nullptr;
    }
    std::unique_ptr<row_job> job;
    // A new row shows best whether a service is back: the others may be what it fails at.
    if (due != retries_.end() && !(probe && has_next && !others_start)) {
        job = std::move(*due);
        retries_.erase(due);
    } else {
        job = std::move(next_);
    }
    job->is_probe = probe;
    job->waits_for_service = false;
    job->sends_nothing = false;
    return job;
}

std::unique_ptr<row_job> batch_run::next_to_reuse() {
    const bool is_free = gate_.in_progress() < gate_.bounds().concurrency;
    if (!next_ || !has_room() || gate_.paused() || !is_free) return nullptr;
    if (next_->is_continued) {
        next_->is_continued = false; // counted when it has needed no request
        next_->sends_nothing = true;
        return std::move(next_);
    }
    if (of_.asked.ordered) gate_.stop(used_up_);
    else leave(std::move(next_));
    return nullptr;
}

void batch_run::leave(std::unique_ptr<row_job> job) {
    ++unfinished_;
    const std::size_t bytes = job->row.json.size();
    if (left_.size() >= max_left || left_bytes_ + bytes > max_left_bytes) {
        has_dropped_ = true;
        return;
    }
    left_bytes_ += bytes;
    left_.push_back(std::move(job));
}

void batch_run::take_left() {
    if (next_ || used_up_ != stop_cause::none || left_.empty()) return;
    next_ = std::move(left_.front());
    left_.pop_front();
    left_bytes_ -= next_->row.json.size();
    --unfinished_;
}

void batch_run::count_continued(const row_job& job) {
    if (!of_.is_continued || of_.is_continued(job.number)) ++counted_.continued;
}

void batch_run::start(coro::nursery& rows, std::unique_ptr<row_job> job) {
    gate_.row_started();
    has_started_ = true;
    if (std::exchange(job->is_continued, false)) count_continued(*job);
    end_guard in_progress([this] {
        gate_.row_left({});
        break_off();
    });
    rows.start(work(std::move(job), std::move(in_progress)));
}

} // namespace heddle::cli
