// Drives the fibers of one evaluation: one coroutine each.
#pragma once

#include "durable_row.hpp"
#include "turn_queue.hpp"

#include <heddle/coro/nursery.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/machine.hpp>
#include <heddle/lang/map_progress.hpp>

#include <memory>
#include <optional>

namespace heddle::host {

struct durable_effect;
class nested_call;
class step_plan;

/// Lives for one evaluation. Answers the machine: effects are awaited, split-off branches get a
/// coroutine in the nursery, parked fibers wait until they are woken, long computations yield.
class run_driver final : public lang::fiber_driver,
                         private coro::cancel_hook,
                         private coro::timer_node {
public:
    run_driver(session& session, const run_options& options);
    ~run_driver() override;

    /// Runs the main fiber and everything below it to the end.
    [[nodiscard]] coro::task<result<lang::value>> run(std::unique_ptr<lang::fiber> main);

    [[nodiscard]] bool is_durable() const noexcept { return row_ != nullptr; }

    /// See session::outermost_maps.
    [[nodiscard]] lang::map_progress outermost_maps() const {
        return main_ ? lang::outermost_maps(*main_) : lang::map_progress();
    }

    /// Seconds on the clock that programs go by.
    [[nodiscard]] double now() const;
    /// The same, where a time begins that limits something.
    [[nodiscard]] double begin_time();

    /// See session::call_within.
    [[nodiscard]] coro::task<result<lang::value>> call_within(lang::value callee,
                                                              std::vector<lang::value> arguments,
                                                              lang::scope_ref scope,
                                                              coro::call_context context,
                                                              bool in_sandbox);

private:
    /// What drives a fiber holds it by this.
    class fiber_guard;

    /// What a driving coroutine keeps for its fiber.
    struct fiber_state {
        explicit fiber_state(turn_queue& turns) noexcept : place(turns, woken) {}
        coro::cancel_source cancel; ///< of the effect under way
        coro::wait_point woken;
        turn_queue::place place;
        durable_row::branch_wait* wait = nullptr; ///< while it waits in a durable row
    };

    /// One frame for a fiber's whole life: every coroutine between the machine and the socket is
    /// paid for by each call in flight.
    coro::task<result<void>> drive(fiber_guard fiber);
    void begin(std::unique_ptr<lang::fiber> fiber, nested_call* call, unsigned attempt) noexcept;
    void begin_branch(std::unique_ptr<lang::fiber> fiber, nested_call* call = nullptr) noexcept;
    [[nodiscard]] lang::outcome run_slice(lang::fiber& fiber) noexcept;
    [[nodiscard]] std::unique_ptr<durable_effect> begin_step(
        lang::fiber& fiber, const effect_handler* handler,
        std::optional<result<lang::value>>& answered);
    [[nodiscard]] coro::deadline deadline_of_step(const lang::fiber& fiber,
                                                  const durable_effect& step,
                                                  coro::deadline own) const;
    [[nodiscard]] result<lang::value> recorded_answer(const lang::fiber& fiber,
                                                      const ports::step_record& record);
    [[nodiscard]] coro::task<result<void>> end_step(lang::fiber& fiber, durable_effect& step,
                                                    std::optional<result<lang::value>>& answered);
    void end_planned(const lang::fiber& fiber, const durable_effect& step, step_plan& plan,
                     std::optional<result<lang::value>>& answered);
    [[nodiscard]] coro::task<coro::wake> park_durably(lang::fiber& fiber, fiber_state& state,
                                                      coro::deadline until);
    [[nodiscard]] bool ordered() const noexcept { return order_ != 0 || row_; }
    void fiber_ended(lang::fiber& fiber, nested_call* call, lang::outcome& last) noexcept;
    void abandon(lang::fiber& fiber, nested_call* call, error failure) noexcept;
    [[nodiscard]] effect_handler* handler_of(const lang::effect_request& request) const;
    bool deadline_or_error(lang::fiber& fiber, result<lang::value>& answered, coro::deadline until,
                           source_span where);
    [[nodiscard]] coro::deadline deadline_at(double at) const;
    [[nodiscard]] coro::deadline deadline_of(const lang::fiber& fiber) const;
    [[nodiscard]] bool split_branches(lang::fiber& fiber) noexcept;
    void lose(error failure) noexcept;
    /// Asks the whole run to end.
    void cancel_run(cancel_reason reason) noexcept;
    [[nodiscard]] unsigned rounds_to_wait();
    void slice_ended(std::uint64_t steps);
    [[nodiscard]] coro::call_context context_of(lang::fiber& fiber, fiber_state& state);

    void wake(lang::fiber& ready) noexcept override;
    void cancel_effect(lang::fiber& waiting) noexcept override;
    void on_cancel(cancel_reason reason) noexcept override;
    void on_timer() noexcept override;

    session& session_;
    const run_options& options_;
    coro::event_loop& loop_;
    lang::run_budget budget_;
    turn_queue turns_;
    std::unique_ptr<durable_row> row_; ///< null: nothing is recorded
    std::optional<step_ways> ways_;    ///< where no row is: if chance has a seed of the run
    std::uint64_t parts_ = 0;          ///< fibers within steps that ways_ has named
    coro::nursery branches_;
    lang::fiber* main_ = nullptr;
    std::optional<result<lang::value>> ended_; ///< of the main fiber
    std::optional<error> lost_;                ///< of the first fiber that was ended by force
    bool past_deadline_ = false;
    std::uint64_t order_; ///< state of the random numbers that order branches; 0: none
};

} // namespace heddle::host
