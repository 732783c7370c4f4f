// The journal of a run, as the engine sees one row of it.
#pragma once

#include <heddle/host/step_log.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Appends the steps of one row to the journal. Threads: the loop's.
class row_log final : public host::step_log {
public:
    /// `journal` outlives it. `earlier`: what other executions of the row have recorded.
    row_log(ports::run_journal& journal, std::uint64_t row, std::uint64_t seed,
            std::vector<ports::step_record> earlier)
        : journal_(journal), row_(row), seed_(seed), earlier_(std::move(earlier)) {}

    [[nodiscard]] std::vector<ports::step_record> take_earlier() override {
        return std::exchange(earlier_, {});
    }
    [[nodiscard]] coro::task<result<void>> append(ports::step_record record,
                                                  coro::call_context context) override {
        note_request(record);
        ++appended_;
        return journal_.append(row_, std::move(record), context);
    }
    void note(ports::step_record record) override {
        ++appended_;
        journal_.note(row_, std::move(record));
    }
    /// The execution has ended: keeps that the responses of requests under way are lost. The number
    /// of these.
    std::uint32_t note_lost() {
        const auto all = std::exchange(under_way_, {});
        for (ports::step_record each : all) {
            each.kind = ports::step_kind::lost;
            journal_.note(row_, std::move(each));
        }
        return static_cast<std::uint32_t>(all.size());
    }
    void use_spare(const ports::spare_use& use) override { journal_.use_spare(row_, use); }
    void note_parked() noexcept override { is_parked_ = true; }
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
    void note_request(const ports::step_record& record) {
        if (record.kind == ports::step_kind::sent) under_way_.push_back(record);
        const bool is_response = record.kind == ports::step_kind::request;
        const bool ends_step =
            record.kind == ports::step_kind::answer || record.kind == ports::step_kind::composed;
        for (auto each = under_way_.begin(); each != under_way_.end();) {
            const bool settled = each->path == record.path &&
                                 (ends_step || (is_response && each->content == record.content));
            each = settled ? under_way_.erase(each) : std::next(each);
            if (settled && is_response) break;
        }
    }

    ports::run_journal& journal_;
    std::uint64_t row_;
    std::uint64_t seed_;
    std::uint64_t appended_ = 0;
    std::uint64_t evaluation_ = 0;
    std::vector<ports::step_record> under_way_; ///< requests that were sent and have no response
    bool is_parked_ = false;
    bool repeats_output_ = false;
    std::vector<ports::step_record> earlier_;
};

} // namespace heddle::cli
