// One of the parts of a durable step that run side by side.
#pragma once

#include "durable_step.hpp"
#include "step_worker.hpp"

#include <string>

namespace heddle::host {

/// A worker whose records are those of its step. Lives as long as the part; the step outlives it.
class durable_part final : public step_worker {
public:
    durable_part(durable_row& row, durable_step& step, const ports::digest128& own) noexcept
        : step_worker(row, own), step_(step) {}

    [[nodiscard]] durable_step& whole() noexcept override { return step_; }

    [[nodiscard]] coro::task<std::optional<ports::kept_part>> take(
        ports::digest128 content, coro::call_context context) override {
        return step_.take_of(own_, content, context);
    }
    [[nodiscard]] bool is_repeated() const noexcept override { return step_.is_repeated(); }
    [[nodiscard]] std::chrono::nanoseconds time_to_catch_up() const noexcept override {
        return step_.time_to_catch_up();
    }
    [[nodiscard]] bool may_ask() noexcept override { return step_.may_ask(); }
    [[nodiscard]] coro::task<error> refused(coro::call_context context) override;
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
    void note_unpaid(ports::digest128 content) override { step_.note_unpaid(content); }
    void note_trace() noexcept override { step_.note_trace(); }
    [[nodiscard]] coro::task<void> park(coro::call_context context) override {
        return step_.park(context);
    }
    void note_parts(int more) noexcept override { step_.note_parts(more); }
    [[nodiscard]] ports::step_place place() const noexcept override { return step_.place(); }
    void note_spending(const ports::step_spending& spent) noexcept override {
        step_.note_spending(spent);
    }

private:
    durable_step& step_;
};

} // namespace heddle::host
