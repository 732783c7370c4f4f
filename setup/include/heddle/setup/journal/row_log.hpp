// The journal of a run, as the engine sees one row of it.
#pragma once

#include <heddle/coro/cancel.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/ports/run_journal.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace heddle::setup {

/// Appends the steps of one row to the journal. Threads: the loop's.
class row_log final : public host::step_log {
public:
    /// `journal` outlives it. `earlier`: what other executions of the row have recorded.
    row_log(ports::run_journal& journal, std::uint64_t row, std::uint64_t seed,
            std::vector<ports::step_record> earlier)
        : journal_(journal), row_(row), seed_(seed), earlier_(std::move(earlier)) {}
    row_log(const row_log&) = delete;
    row_log& operator=(const row_log&) = delete;

    [[nodiscard]] std::vector<ports::step_record> take_earlier() override {
        return std::exchange(earlier_, {});
    }
    [[nodiscard]] coro::task<result<void>> append(ports::step_record record,
                                                  coro::call_context context) override {
        if (held_by_ && record.kind == ports::step_kind::sent) {
            hold_row();
            return refused(error::cancelled(cancel_reason::budget).with_attempts(0));
        }
        note_request(record);
        if (record.kind == ports::step_kind::request || ends_a_step(record))
            counted_usd_ += record.spent.cost_usd;
        if (record.kind == ports::step_kind::request)
            *longest_output_ = std::max(*longest_output_, record.spent.output_tokens);
        ++appended_;
        return journal_.append(row_, std::move(record), context);
    }
    void note(ports::step_record record) override {
        if (record.kind == ports::step_kind::unpaid) {
            const std::size_t before = under_way_.size();
            note_request(record);
            if (under_way_.size() != before) free_.push_back(record);
        }
        ++appended_;
        journal_.note(row_, std::move(record));
    }
    /// What the execution has left when it ended.
    struct lost_requests {
        std::uint32_t count = 0;
        std::int64_t output_tokens = 0; ///< that their responses may have had
        double counted_usd = 0;         ///< of the whole execution in the journal, with them
    };
    /// The execution has ended: keeps that the responses of requests under way are lost.
    /// `process_usd`: what the process has counted of the execution, with the mean of what such
    /// calls have cost. Where the longest response of the run comes to less, the last of them makes
    /// up for it: the journal, and whoever continues it, count the larger figure.
    lost_requests note_lost(double process_usd = 0) {
        lost_requests lost;
        std::vector<ports::step_record> ended = std::exchange(under_way_, {});
        for (ports::step_record& each : ended) {
            const std::int64_t known = each.spent.output_tokens;
            host::count_lost(each, *longest_output_);
            ++lost.count;
            lost.output_tokens += each.spent.output_tokens - known;
            counted_usd_ += each.spent.cost_usd;
        }
        if (!ended.empty() && process_usd > counted_usd_) {
            ended.back().spent.cost_usd += process_usd - counted_usd_;
            ended.back().spent.estimated = true;
            counted_usd_ = process_usd;
        }
        for (ports::step_record& each : ended) journal_.note(row_, std::move(each));
        // Nothing of their step will count them: they cost nothing, but are requests.
        for (ports::step_record& each : std::exchange(free_, {})) {
            each.spent.requests = 1;
            journal_.note(row_, std::move(each));
        }
        lost.counted_usd = counted_usd_;
        return lost;
    }
    /// `tokens`: of the longest response of the run, which is kept up to date; outlives the log.
    void share_longest_output(std::int64_t& tokens) noexcept { longest_output_ = &tokens; }
    void use_spare(const ports::spare_use& use) override { journal_.use_spare(row_, use); }
    void note_parked() noexcept override { is_parked_ = true; }
    /// A request that the row is about to send ends it by `row`, which outlives the log, and is not
    /// sent.
    void hold_requests(coro::cancel_source& row) noexcept { held_by_ = &row; }
    /// The row needs a request.
    void hold_row() noexcept {
        has_held_ = true;
        if (held_by_) held_by_->request(cancel_reason::budget);
    }
    /// Whether the row was ended so.
    [[nodiscard]] bool has_held() const noexcept { return has_held_; }
    /// The row waits for what comes in another process.
    [[nodiscard]] bool is_parked() const noexcept { return is_parked_; }
    /// One of several evaluations of the row, whose earlier output is printed again.
    void set_evaluation(std::uint64_t number) noexcept {
        evaluation_ = number;
        repeats_output_ = true;
    }
    [[nodiscard]] std::uint64_t evaluation() const noexcept override { return evaluation_; }
    [[nodiscard]] bool repeats_output() const noexcept override { return repeats_output_; }
    [[nodiscard]] std::uint64_t row() const noexcept override { return row_; }
    /// Records of this execution.
    [[nodiscard]] std::uint64_t appended() const noexcept { return appended_; }
    [[nodiscard]] std::uint64_t seed() const noexcept override { return seed_; }

private:
    [[nodiscard]] static coro::task<result<void>> refused(error why) { co_return why; }
    void note_request(const ports::step_record& record) {
        using ports::step_kind;
        if (record.kind == step_kind::sent) under_way_.push_back(record);
        const bool ends_step = ends_a_step(record);
        // A response has counted the attempts before it.
        std::uint32_t attempts = 0;
        if (record.kind == step_kind::unpaid) attempts = 1;
        if (record.kind == step_kind::request)
            attempts = std::max<std::uint32_t>(1, record.spent.requests);
        if (ends_step || record.kind == step_kind::request) {
            std::erase_if(free_, [&](const ports::step_record& each) {
                if (each.path != record.path) return false;
                if (ends_step) return true;
                if (attempts <= 1 || each.content != record.content) return false;
                --attempts;
                return true;
            });
        }
        for (auto each = under_way_.begin(); each != under_way_.end();) {
            const bool is_attempt = attempts != 0 && each->content == record.content;
            const bool settled = each->path == record.path && (ends_step || is_attempt);
            each = settled ? under_way_.erase(each) : std::next(each);
            if (settled && is_attempt && --attempts == 0) break;
        }
    }

    ports::run_journal& journal_;
    std::uint64_t row_;
    std::uint64_t seed_;
    std::uint64_t appended_ = 0;
    double counted_usd_ = 0; ///< what this execution has paid for, as the journal counts it
    std::uint64_t evaluation_ = 0;
    std::vector<ports::step_record> under_way_; ///< requests that were sent and have no response
    std::vector<ports::step_record> free_; ///< requests that cost nothing, and are not counted yet
    std::int64_t own_longest_output_ = 0;  ///< of this execution
    std::int64_t* longest_output_ = &own_longest_output_;
    coro::cancel_source* held_by_ = nullptr; ///< null: requests are sent
    bool has_held_ = false;
    bool is_parked_ = false;
    bool repeats_output_ = false;
    std::vector<ports::step_record> earlier_;
};

} // namespace heddle::setup
