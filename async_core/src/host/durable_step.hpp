// One effect of a durable evaluation.
#pragma once

#include "step_worker.hpp"

namespace heddle::host {

/// What names an effect, and what is remembered of it. Lives as long as the effect is under way.
class durable_step final : public step_worker {
public:
    durable_step(durable_row& row, const ports::digest128& path) noexcept
        : step_worker(row, path) {}

    [[nodiscard]] durable_step& whole() noexcept override { return *this; }
    [[nodiscard]] const ports::digest128& path() const noexcept { return own_; }
    /// A function of the program begins as a part of it, or is about to.
    void note_function() noexcept { ++functions_; }
    [[nodiscard]] std::uint32_t functions() const noexcept { return functions_; }
    /// An earlier version of heddle has recorded its functions in the order in which they began.
    void note_numbered() noexcept { is_numbered_ = true; }
    [[nodiscard]] bool is_numbered() const noexcept { return is_numbered_; }
    /// What it has paid for, but for what the records of its requests have counted.
    [[nodiscard]] ports::step_spending spent() const noexcept;
    /// A part of it was kept by an earlier execution.
    [[nodiscard]] bool remembers() const noexcept { return remembers_; }
    /// It has ended in an earlier execution, whose answer it has. Functions of the program that ran
    /// as parts of it run again, but nothing more is asked.
    void note_end_is_known() noexcept { end_is_known_ = true; }
    [[nodiscard]] bool end_is_known() const noexcept { return end_is_known_; }
    /// It was not allowed to ask the world.
    [[nodiscard]] bool was_refused() const noexcept { return was_refused_; }
    /// Its answer is not all: functions of the program have run as parts of it, or it has left
    /// something for later steps. It is performed again by each execution.
    [[nodiscard]] bool composed() const noexcept { return functions_ != 0 || leaves_trace_; }
    void note_trace() noexcept override { leaves_trace_ = true; }
    /// A seed that no other step of the row has, and that each execution of it has.
    [[nodiscard]] std::uint64_t seed() const noexcept;

    /// As take(), keep() and so on, of the part of that path; zero: the step itself.
    [[nodiscard]] coro::task<std::optional<ports::kept_part>> take_of(ports::digest128 part,
                                                                      ports::digest128 content,
                                                                      coro::call_context context);
    [[nodiscard]] coro::task<result<void>> keep_of(const ports::digest128& part,
                                                   const ports::digest128& content,
                                                   std::string name, std::string body,
                                                   ports::step_spending spent,
                                                   coro::call_context context);
    [[nodiscard]] coro::task<void> keep_failure_of(ports::digest128 part, ports::digest128 content,
                                                   std::string name, std::string body,
                                                   coro::call_context context);
    [[nodiscard]] coro::task<result<void>> keep_result_of(const ports::digest128& part,
                                                          const ports::digest128& content,
                                                          std::string name, std::string body,
                                                          coro::call_context context);

    [[nodiscard]] coro::task<result<void>> note_sent_of(const ports::digest128& part,
                                                        const ports::digest128& content,
                                                        std::string name,
                                                        ports::cost_if_lost if_lost,
                                                        coro::call_context context);

    [[nodiscard]] coro::task<std::optional<ports::kept_part>> take(
        ports::digest128 content, coro::call_context context) override {
        return take_of({}, content, context);
    }
    [[nodiscard]] bool is_repeated() const noexcept override { return end_is_known_; }
    [[nodiscard]] std::chrono::nanoseconds time_to_catch_up() const noexcept override;
    [[nodiscard]] bool may_ask() noexcept override;
    [[nodiscard]] coro::task<result<void>> keep(ports::digest128 content, std::string name,
                                                std::string body, ports::step_spending spent,
                                                coro::call_context context) override;
    [[nodiscard]] coro::task<void> keep_failure(ports::digest128 content, std::string name,
                                                std::string body,
                                                coro::call_context context) override;
    [[nodiscard]] coro::task<result<void>> keep_result(ports::digest128 content, std::string name,
                                                       std::string body,
                                                       coro::call_context context) override;
    [[nodiscard]] coro::task<result<void>> note_sent(ports::digest128 content, std::string name,
                                                     ports::cost_if_lost if_lost,
                                                     coro::call_context context) override;
    void note_unpaid(ports::digest128 content) override;
    [[nodiscard]] coro::task<void> park(coro::call_context context) override;
    void note_parts(int more) noexcept override;
    [[nodiscard]] ports::step_place place() const noexcept override;
    void note_spending(const ports::step_spending& spent) noexcept override { spent_ += spent; }

private:
    [[nodiscard]] bool keeps_nothing() const noexcept;
    [[nodiscard]] coro::task<result<void>> keep_record(ports::step_record record, bool durable,
                                                       coro::call_context context);
    [[nodiscard]] ports::step_record record(ports::step_kind kind, const ports::digest128& part,
                                            const ports::digest128& content, std::string name,
                                            std::string body) const;

    std::uint32_t functions_ = 0; ///< of all its workers
    bool is_numbered_ = false;
    bool remembers_ = false;
    bool was_refused_ = false;
    bool end_is_known_ = false;
    bool leaves_trace_ = false;
    ports::step_spending spent_;
    ports::step_spending counted_; ///< by the records of requests of this execution
};

} // namespace heddle::host
