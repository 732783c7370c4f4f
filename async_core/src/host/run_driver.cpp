#include "run_driver.hpp"

#include "durable_effect.hpp"
#include "nested_call.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/call_site.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>
#include <utility>

namespace heddle::host {

namespace {

constexpr unsigned effects_without_a_turn = 8; // that may have been answered without waiting
constexpr auto time_of_a_step = std::chrono::nanoseconds(10); // where time is virtual
constexpr unsigned max_attempts = 3;                          // to start a branch
constexpr unsigned max_levels_split = 4; // of nested groups, at the end of one turn
constexpr unsigned max_refusals = 1000;  // waits of a fiber that there was no memory for

} // namespace

run_driver::run_driver(session& session, const run_options& options)
    : session_(session), options_(options), loop_(session.engine().loop()), turns_(loop_),
      branches_(coro::call_context{&loop_, nullptr, {}}), order_(options.schedule_seed) {
    budget_.steps = options.step_limit;
    if (!options.steps) {
        if (options.random_seed) ways_.emplace(0);
        return;
    }
    row_ = std::make_unique<durable_row>(*options.steps, loop_);
    row_->on_broken = [this] {
        if (!lost_) lost_ = row_->broken();
        cancel_run(cancel_reason::shutdown);
    };
}

run_driver::~run_driver() = default;

double run_driver::now() const {
    if (row_) return row_->now();
    return std::chrono::duration<double>(loop_.now().time_since_epoch()).count();
}

double run_driver::begin_time() { return row_ ? row_->begin_time() : now(); }

coro::task<result<lang::value>> run_driver::run(std::unique_ptr<lang::fiber> main) {
    main_ = main.get();
    if (options_.cancel) {
        if (options_.cancel->requested()) cancel_run(options_.cancel->reason());
        else options_.cancel->hook(*this);
    }
    if (!options_.until.is_never()) loop_.schedule(*this, options_.until.at());
    session_.counters_ = {};
    session_.counters_.fibers = session_.counters_.peak_fibers = 1;
    if (row_) row_->branch_runs();
    begin(std::move(main), nullptr, 1);
    // Joins end every branch before their frame is left; this waits for their coroutines too.
    const result<void> joined = co_await branches_.join();
    unhook();
    unschedule();
    while (session_.memory().has_dead()) {
        session_.memory().begin_turn();
        try {
            co_await coro::yield_now(loop_);
        } catch (const std::bad_alloc&) { // it goes on at once
        }
    }
    session_.counters_.fibers = 0;
    session_.counters_.steps = options_.step_limit - budget_.steps;
    if (lost_) co_return *std::move(lost_);
    // A coroutine that could not begin was made again.
    if (!ended_) co_return joined ? out_of_memory() : joined.error();
    if (!*ended_ && past_deadline_ && ended_->error().is_cancelled()) {
        co_return error(lang::errc::timeout, "the time limit of this run has passed")
            .with_span(ended_->error().info().span)
            .with_cause(ended_->error());
    }
    co_return *std::move(ended_);
}

/// Owns a fiber for its coroutine, however that ends: a coroutine that could not begin is made
/// again, and when one ends before its fiber does, the fiber is ended by force. Whoever waits for
/// it must be notified of its end.
class run_driver::fiber_guard {
public:
    fiber_guard(run_driver& owner, std::unique_ptr<lang::fiber> fiber, nested_call* call,
                unsigned attempt) noexcept
        : owner_(owner), fiber_(std::move(fiber)), call_(call), attempt_(attempt) {}
    fiber_guard(fiber_guard&& other) noexcept = default;
    fiber_guard& operator=(fiber_guard&&) = delete;
    ~fiber_guard() {
        if (!fiber_ || ended_) return;
        if (begun_) owner_.abandon(*fiber_, call_, out_of_memory());
        else owner_.begin(std::move(fiber_), call_, attempt_ + 1);
    }
    [[nodiscard]] lang::fiber& operator*() const noexcept { return *fiber_; }
    [[nodiscard]] lang::fiber* operator->() const noexcept { return fiber_.get(); }
    void begin() noexcept { begun_ = true; }
    void end(lang::outcome& last) noexcept {
        ended_ = true;
        owner_.fiber_ended(*fiber_, call_, last);
    }

private:
    run_driver& owner_;
    std::unique_ptr<lang::fiber> fiber_; ///< null once another one owns it
    nested_call* call_;
    unsigned attempt_;
    bool begun_ = false;
    bool ended_ = false;
};

/// Starts the coroutine of a fiber. Without the memory for it the fiber fails, at the last attempt.
void run_driver::begin(std::unique_ptr<lang::fiber> fiber, nested_call* call,
                       unsigned attempt) noexcept {
    if (attempt > max_attempts) return abandon(*fiber, call, out_of_memory());
    try {
        branches_.start(drive(fiber_guard(*this, std::move(fiber), call, attempt)));
    } catch (...) { // the guard has seen to it
    }
}

void run_driver::begin_branch(std::unique_ptr<lang::fiber> fiber, nested_call* call) noexcept {
    session_.counters_.peak_fibers =
        std::max(session_.counters_.peak_fibers, ++session_.counters_.fibers);
    if (row_) row_->branch_runs();
    begin(std::move(fiber), call, 1);
}

void run_driver::abandon(lang::fiber& fiber, nested_call* call, error failure) noexcept {
    fiber.driver_data = nullptr;
    if (!lost_) lost_ = failure;
    lang::outcome last = lang::machine::abandon(fiber, std::move(failure));
    fiber_ended(fiber, call, last);
    // Its cleanups have not run: what they would have given back, others may wait for.
    cancel_run(cancel_reason::shutdown);
}

/// The machine has reported to its join how a branch ended.
void run_driver::fiber_ended(lang::fiber& fiber, nested_call* call, lang::outcome& last) noexcept {
    --session_.counters_.fibers;
    if (call) call->end(last);
    if (call && call->is_of_step()) row_->function_ended(call->is_of_part());
    if (row_) row_->branch_waits();
    if (&fiber != main_) return;
    main_ = nullptr;
    if (last.kind == lang::outcome_kind::done) ended_.emplace(std::move(last.result));
    else ended_.emplace(*std::move(last.failure));
}

effect_handler* run_driver::handler_of(const lang::effect_request& request) const {
    return request.row ? session_.engine().find_effect(request.row->name) : nullptr;
}

/// What was to be kept is not: the run ends, and its result is that.
void run_driver::lose(error failure) noexcept {
    if (!lost_) lost_ = std::move(failure);
    cancel_run(cancel_reason::shutdown);
}

lang::outcome run_driver::run_slice(lang::fiber& fiber) noexcept {
    const std::uint64_t steps_before = budget_.steps;
    if (row_) row_->slice_begins();
    lang::outcome now = lang::machine::run(fiber, budget_, options_.slice);
    slice_ended(steps_before - budget_.steps);
    return now;
}

coro::task<result<void>> run_driver::drive(fiber_guard fiber) {
    fiber.begin();
    fiber_state state(turns_);
    fiber->driver = this;
    fiber->driver_data = &state;
    auto rank = turn_queue::rank::computing;
    auto turn_began = loop_.now();
    auto effects_began = turn_began;
    unsigned effects = 0; // since then
    bool starts_branches = false;
    bool computes = false;
    for (unsigned refused = 0;;) {
        if (fiber->waits() == lang::waiting_for::effect) {
            ++session_.counters_.effects;
            const lang::builtin* const row = fiber->request().row;
            const source_span where = fiber->request().span;
            std::optional<result<lang::value>> answered;
            std::unique_ptr<durable_effect> step;
            try {
                effect_handler* const handler = handler_of(fiber->request());
                lang::scope_ref scope = row ? fiber->scope() : lang::scope_of_call(*fiber);
                if (row_) step = begin_step(*fiber, handler, answered);
                const std::uint32_t ordinal = fiber->request().ordinal;
                effect_call asked{session_, std::move(fiber->request()), std::move(scope),
                                  context_of(*fiber, state), &*fiber};
                if (step)
                    asked.context.until = deadline_of_step(*fiber, *step, asked.context.until);
                const coro::deadline until = asked.context.until;
                if (step) {
                    asked.context.step = &step->self;
                    asked.seed = step->self.seed();
                } else if (ways_) {
                    asked.seed =
                        *options_.random_seed ^ ways_->path_of(lang::place_of(*fiber), ordinal).low;
                }
                if (answered) {
                    // Recorded by an earlier execution.
                } else if (step && step->withheld) {
                    co_await row_->withhold(step->name, true);
                    answered.emplace(error::cancelled(cancel_reason::shutdown));
                } else if (fiber->cancel_requested() && !fiber->cancellation_masked()) {
                    answered.emplace(error::cancelled(fiber->cancelled_because()));
                } else if (handler) {
                    result<lang::value> given = co_await handler->run(std::move(asked));
                    answered.emplace(std::move(given));
                } else if (operator_source* operators = row ? nullptr : session_.operators()) {
                    result<lang::value> given = co_await operators->call(std::move(asked));
                    answered.emplace(std::move(given));
                } else {
                    answered.emplace(error(heddle::errc::internal, "nothing handles this request"));
                }
                const bool cut = deadline_or_error(*fiber, *answered, until, where);
                if (step) step->cut = cut;
            } catch (...) { // of the embedder's code too
                answered.emplace(error_of_exception(row ? row->name : "a task or a tool"));
                if (row_ && !step) lose(answered->error());
            }
            if (step) {
                try {
                    const result<void> kept = co_await end_step(*fiber, *step, answered);
                    if (!kept) lose(kept.error());
                } catch (...) { // no memory for the record
                    lose(error_of_exception("recording a step"));
                }
            }
            lang::machine::resume(*fiber, *std::move(answered));
            rank = turn_queue::rank::woken;
            // Whether it waited is unknown. A loop of effects that never do (answers of a
            // cache) would keep timers and signals waiting.
            if (++effects >= effects_without_a_turn &&
                (ordered() || loop_.now() - effects_began >= turn_queue::turn)) {
                try {
                    co_await coro::yield_now(loop_);
                } catch (const std::bad_alloc&) { // their turn comes later
                }
                effects_began = loop_.now();
                effects = 0;
            }
        } else if (fiber->waits() != lang::waiting_for::nothing) {
            // Cancellation comes through the fiber. Branches that are waited for have the deadline
            // too.
            coro::deadline until;
            if (fiber->waits() != lang::waiting_for::children) until = deadline_of(*fiber);
            try {
                coro::wake woken{};
                if (row_) {
                    woken = co_await park_durably(*fiber, state, until);
                } else {
                    woken = co_await state.woken.wait(coro::call_context{&loop_, nullptr, until});
                }
                if (woken == coro::wake::timed_out) lang::machine::interrupt_wait(*fiber);
            } catch (...) { // no memory to wait
                if (++refused == max_refusals) throw;
                lang::machine::fail_wait(*fiber, error_of_exception("waiting"));
            }
            rank = turn_queue::rank::woken;
            continue;
        }
        if (ordered()) {
            // Every order can come out only without turns; none may depend on time.
        } else if (!state.place.has_turn()) {
            if (!turns_.ask(state.place, rank)) {
                try {
                    if (state.place.has_turn()) co_await coro::yield_now(loop_);
                    while (!state.place.has_turn()) {
                        const coro::wake woken =
                            co_await state.woken.wait(coro::call_context{&loop_, nullptr, {}});
                        (void)woken;
                    }
                } catch (...) { // no memory to wait
                    turns_.seize(state.place);
                }
            }
            turn_began = loop_.now();
        }
        for (unsigned rounds = rounds_to_wait(); rounds != 0; --rounds) {
            try {
                co_await coro::yield_now(loop_);
            } catch (const std::bad_alloc&) { // it goes on at once
                rounds = 1;
            }
        }
        if (row_ && row_->gathers(computes)) {
            try {
                co_await row_->gather();
            } catch (const std::bad_alloc&) { // it goes on at once
            }
        }
        lang::outcome now = run_slice(*fiber);
        computes = now.kind == lang::outcome_kind::out_of_steps;
        if (row_) {
            row_->slice_ended(now.idle, fiber->deadline().has_value(), computes);
        }
        bool turn_is_over = ordered() || now.idle || loop_.now() - turn_began >= turns_.share();
        rank = now.idle ? turn_queue::rank::idle : turn_queue::rank::computing;
        switch (now.kind) {
        case lang::outcome_kind::done:
        case lang::outcome_kind::failed:
        case lang::outcome_kind::cancelled:
            turns_.end(state.place, turn_began);
            fiber.end(now);
            co_return result<void>();
        case lang::outcome_kind::effect:
        case lang::outcome_kind::parked:
            turn_is_over = true;
            starts_branches = false;
            break;
        case lang::outcome_kind::forked: begin_branch(std::move(now.child)); break;
        case lang::outcome_kind::out_of_steps:
            if (turn_is_over || starts_branches) starts_branches = split_branches(*fiber);
            if (starts_branches) rank = turn_queue::rank::woken;
            if (!ordered()) break;
            try {
                co_await coro::yield_now(loop_);
            } catch (const std::bad_alloc&) { // their turn comes later
            }
            break;
        }
        if (turn_is_over) turns_.end(state.place, turn_began);
    }
}

/// Branches that compute on the fiber's stack go on beside it, so that their siblings get their
/// turn, those of the groups around the innermost one too. True when the fiber is to go on before
/// what computes: the branches of a group begin all at once, not one in each round of those that
/// have begun. Futures do not: nothing else bounds how many a program begins.
bool run_driver::split_branches(lang::fiber& fiber) noexcept {
    bool of_group = false;
    try {
        for (unsigned levels = max_levels_split; levels != 0; --levels) {
            auto split = lang::machine::split_running_branch(fiber);
            if (!split) break;
            of_group = !split->is_future();
            begin_branch(std::move(split));
        }
    } catch (const std::bad_alloc&) { // their turn comes later
    }
    return of_group;
}

/// A branch that is ready lets others go first as often as the seed has it: every order can come
/// out.
unsigned run_driver::rounds_to_wait() {
    if (order_ == 0) return 0;
    // SplitMix64 (Steele, Lea, Flood 2014): eight bytes of state, where each run pays for its
    // driver.
    std::uint64_t mixed = order_ += 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return static_cast<unsigned>((mixed ^ (mixed >> 31)) % 8);
}

void run_driver::slice_ended(std::uint64_t steps) {
    loop_.pass(steps * time_of_a_step);
    if (options_.observer) options_.observer->after_slice(options_.step_limit - budget_.steps);
}

coro::call_context run_driver::context_of(lang::fiber& fiber, fiber_state& state) {
    const coro::deadline own = deadline_of(fiber);
    if (fiber.cleans_up())
        return {&loop_, fiber.cancellation_masked() ? nullptr : &state.cancel, own};
    return {&loop_, &state.cancel, options_.until.earlier(own)};
}

/// Of a time on the clock that programs go by, in seconds, or infinity.
coro::deadline run_driver::deadline_at(double at) const {
    if (std::isinf(at)) return {};
    if (row_) return row_->real_time(at);
    const std::chrono::duration<double> seconds(at);
    // Rounded up: when the timer fires, the machine must agree that the time is over.
    return coro::deadline(
        coro::clock::time_point(std::chrono::ceil<coro::clock::duration>(seconds)));
}

/// When what the fiber waits for is cut.
coro::deadline run_driver::deadline_of(const lang::fiber& fiber) const {
    const auto at = fiber.deadline();
    return at ? deadline_at(*at) : coro::deadline();
}

/// An effect that ended because its time was over: a deadline of the run cancels the run, one of
/// the fiber is an error that can be caught. True: of the fiber.
bool run_driver::deadline_or_error(lang::fiber& fiber, result<lang::value>& answered,
                                   coro::deadline until, source_span where) {
    if (answered || !answered.error().is_cancelled() || fiber.cancel_requested()) return false;
    const auto now = loop_.now();
    if (until.is_never() || !until.passed(now)) return false;
    // The deadlines of a durable row move while it repeats what is recorded.
    if (deadline_of(fiber).passed(now) || (row_ && !options_.until.passed(now))) {
        answered = lang::machine::deadline_failure(fiber).with_span(where);
        return true;
    }
    past_deadline_ = true;
    cancel_run(cancel_reason::deadline);
    return false;
}

void run_driver::wake(lang::fiber& ready) noexcept {
    auto* state = static_cast<fiber_state*>(ready.driver_data);
    if (!state) return;
    if (state->wait) row_->wake(*state->wait);
    else state->woken.notify();
}

void run_driver::cancel_effect(lang::fiber& waiting) noexcept {
    if (auto* state = static_cast<fiber_state*>(waiting.driver_data))
        state->cancel.request(waiting.cancelled_because());
}

void run_driver::cancel_run(cancel_reason reason) noexcept {
    if (!main_) return;
    if (row_) row_->close();
    budget_.ending = true;
    main_->request_cancel(reason);
}

void run_driver::on_cancel(cancel_reason reason) noexcept { cancel_run(reason); }

void run_driver::on_timer() noexcept {
    past_deadline_ = true;
    cancel_run(cancel_reason::deadline);
}

} // namespace heddle::host
