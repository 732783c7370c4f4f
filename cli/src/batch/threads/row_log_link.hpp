// The journal of a row, for the thread that executes it.
#pragma once

#include <heddle/coro/loop_address.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/setup/journal/row_log.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Appends to a row_log on the loop of that one. The order of the records is kept, and all of them
/// are there before what is posted after them. Threads: made on that of the log, then those of the
/// session.
class row_log_link final : public host::step_log {
public:
    row_log_link(coro::loop_address home, std::shared_ptr<setup::row_log> log)
        : home_(std::move(home)), log_(std::move(log)), earlier_(log_->take_earlier()),
          row_(log_->row()), seed_(log_->seed()) {}

    [[nodiscard]] std::vector<ports::step_record> take_earlier() override {
        return std::exchange(earlier_, {});
    }
    /// Cancellation: not before the record is kept.
    [[nodiscard]] coro::task<result<void>> append(ports::step_record record,
                                                  coro::call_context context) override;
    void note(ports::step_record record) override;
    void use_spare(const ports::spare_use& use) override;
    void note_parked() noexcept override { is_parked_ = true; }
    [[nodiscard]] std::uint64_t row() const noexcept override { return row_; }
    [[nodiscard]] std::uint64_t seed() const noexcept override { return seed_; }

    /// The row waits for what comes in another process.
    [[nodiscard]] bool is_parked() const noexcept { return is_parked_; }

private:
    coro::loop_address home_;
    std::shared_ptr<setup::row_log> log_; ///< of the thread of `home_`
    std::vector<ports::step_record> earlier_;
    std::uint64_t row_;
    std::uint64_t seed_;
    bool is_parked_ = false;
};

} // namespace heddle::cli
