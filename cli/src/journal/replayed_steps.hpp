// The records of a row that is only replayed.
#pragma once

#include <heddle/host/step_log.hpp>
#include <heddle/ports/run_journal.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::cli {

/// Hands out what is recorded, and keeps nothing. Threads: the loop's.
class replayed_steps final : public host::step_log, public host::step_replay {
public:
    struct parts {
        std::vector<ports::step_record> earlier; ///< of the last attempt (host::last_attempt)
        std::uint64_t seed = 0;
        std::uint64_t evaluation = 0;
        bool repeats_output = false;
        std::function<void(const ports::step_record&)> on_effect; ///< may be empty
    };
    explicit replayed_steps(parts of) : of_(std::move(of)) {}

    [[nodiscard]] std::vector<ports::step_record> take_earlier() override {
        return std::exchange(of_.earlier, {});
    }
    [[nodiscard]] coro::task<result<void>> append(ports::step_record, coro::call_context) override {
        co_return error(errc::io_error, "a replay records nothing");
    }
    void note(ports::step_record) override {}
    [[nodiscard]] std::uint64_t seed() const noexcept override { return of_.seed; }
    [[nodiscard]] host::step_replay* replay() noexcept override { return this; }
    [[nodiscard]] std::uint64_t evaluation() const noexcept override { return of_.evaluation; }
    [[nodiscard]] bool repeats_output() const noexcept override { return of_.repeats_output; }

    void note_effect(const ports::step_record& record) noexcept override {
        try {
            if (of_.on_effect) of_.on_effect(record);
        } catch (...) { // no memory to show a step
        }
    }
    void note_end(std::string_view what) noexcept override {
        try {
            missing_ = what;
        } catch (...) { // the error of the evaluation names them, too
        }
    }
    /// Names the steps at which the records have ended before the row; empty: they have not.
    [[nodiscard]] const std::string& missing() const noexcept { return missing_; }

private:
    parts of_;
    std::string missing_;
};

} // namespace heddle::cli
