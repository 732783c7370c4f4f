// The journal of a run, as the engine sees one row of it.
#pragma once

#include <heddle/host/step_log.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
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
        ++appended_;
        return journal_.append(row_, std::move(record), context);
    }
    void note(ports::step_record record) override {
        ++appended_;
        journal_.note(row_, std::move(record));
    }
    /// Records of this execution.
    [[nodiscard]] std::uint64_t appended() const noexcept { return appended_; }
    [[nodiscard]] std::uint64_t seed() const noexcept override { return seed_; }

private:
    ports::run_journal& journal_;
    std::uint64_t row_;
    std::uint64_t seed_;
    std::uint64_t appended_ = 0;
    std::vector<ports::step_record> earlier_;
};

} // namespace heddle::cli
