// A call that is recorded.
#pragma once

#include "call_journal.hpp"

#include <heddle/answer.hpp>
#include <heddle/coro/call_context.hpp>
#include <heddle/coro/task.hpp>
#include <heddle/host/row_history.hpp>
#include <heddle/json.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/setup/journal/row_log.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace heddle::embed {

/// What a call asks for.
struct recorded_request {
    const std::string& tag; ///< outlives the call
    std::string function;
    const json& input;   ///< outlives open()
    std::string program; ///< digest of its version
};

/// A call with a tag, from the look at what earlier ones have left to its end. Threads: the shard's
/// only.
class recorded_call {
public:
    recorded_call(call_journal& journal, recorded_request wanted);
    recorded_call(const recorded_call&) = delete;
    recorded_call& operator=(const recorded_call&) = delete;

    /// Takes the tag, and reads how an earlier call with it has ended. Errors:
    /// runtime_errc::tag_in_use, tag_mismatch; io_error of the journal.
    [[nodiscard]] coro::task<result<void>> open(coro::call_context context);
    /// The value of an earlier call that has ended; nothing: it is to be run.
    [[nodiscard]] const std::optional<json>& recorded_value() const noexcept { return value_; }

    /// The evaluation begins, in a session with this heap; the second time after note_misfit().
    /// Errors: io_error of the journal.
    [[nodiscard]] coro::task<result<void>> begin(lang::heap& memory, coro::call_context context);
    /// After begin(). Valid until the next one.
    [[nodiscard]] host::step_log& log() noexcept { return *log_; }
    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

    /// The records do not fit the program. The next begin() keeps the responses only.
    void note_misfit(const usage& used) noexcept;
    [[nodiscard]] bool is_misfit() const noexcept { return is_misfit_; }
    /// The value, or the result of which an error was raised, is that of a task that has failed
    /// with this message: a further attempt repeats that task.
    void note_failed_step(std::string message, host::attempt_end end = {}) {
        failed_step_ = std::move(message);
        attempt_ = end;
    }

    /// The call has ended. `from_outside`: by cancellation or its deadline, so that it continues
    /// where it was. Returns once that is kept. Errors: io_error of the journal.
    [[nodiscard]] coro::task<result<void>> end(const result<answer>& how, bool from_outside,
                                               coro::call_context context);

    /// By the evaluation that did not fit.
    [[nodiscard]] const usage& used_by_misfit() const noexcept { return used_by_misfit_; }
    [[nodiscard]] const usage& used_before() const noexcept { return used_before_; }

private:
    [[nodiscard]] result<void> compare(const store::run_row& earlier);
    [[nodiscard]] coro::task<result<void>> revise(lang::heap& memory, coro::call_context context);
    [[nodiscard]] result<void> note_begun(coro::call_context context);
    [[nodiscard]] std::string text() const;
    void count_before(const ports::step_spending& spent);
    void note_time(coro::call_context context);

    call_journal& journal_;
    recorded_request wanted_;
    std::string input_text_;
    ports::digest128 content_;
    tag_claim claim_;
    std::uint64_t seed_ = 0;
    ports::row_work before_;   ///< in earlier calls
    bool has_records_ = false; ///< of earlier evaluations
    bool has_failed_ = false;  ///< the last of them
    bool is_outdated_ = false; ///< they are of another version of the program
    bool is_misfit_ = false;   ///< they do not fit
    bool has_counted_ = false; ///< what they have spent
    std::optional<json> value_;
    std::optional<setup::row_log> log_;
    std::optional<std::string> failed_step_;
    host::attempt_end attempt_; ///< if it has failed
    usage used_before_;
    usage used_by_misfit_;
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

} // namespace heddle::embed
