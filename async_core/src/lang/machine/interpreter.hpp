// One run of the machine over one fiber.
#pragma once

#include "builtin_place.hpp"
#include "code_job.hpp"
#include "join.hpp"
#include "pending_job.hpp"
#include "permit_waits.hpp"
#include "slice_work.hpp"

#include <heddle/lang/builtin.hpp>
#include <heddle/lang/machine.hpp>

namespace heddle::lang {

class sandbox_policy;

/// The dispatch loop (interpreter.cpp) and what it needs off the hot path (interpreter_slow.cpp).
/// Lives on the native stack for the length of one run().
class interpreter {
public:
    interpreter(fiber& self, run_budget& budget, std::uint32_t slice)
        : f_(self), budget_(budget), slice_(slice), memory_(self.realm().memory()),
          run_limit_(memory_.limit()) {}

    outcome run() noexcept;
    /// See machine::abandon.
    outcome abandon(error failure) noexcept;

    /// Splits the innermost inline branch off; its frames, permit and cleanups go with it.
    static std::unique_ptr<fiber> detach_branch(fiber& self);
    /// Whether a branch around the innermost inline one is to end with it.
    static bool ends_with_others(fiber& self) noexcept;

private:
    friend class machine;

    /// What a slow operation asks of the dispatch loop.
    enum class next : std::uint8_t {
        go_on, ///< reload the frame and continue
        leave, ///< `out_` is ready
    };
    enum class comparison : std::uint8_t { lt, le, gt, ge, num_eq };

    outcome dispatch();

    // calls
    next call_value(std::size_t at, std::size_t count, bool tail);
    static void note_tail_call(frame& self, const function& callee) noexcept;
    next enter_closure(std::size_t at, std::size_t count, bool tail);
    next start_frame(std::size_t at, bool tail);
    next raise_arity(const builtin& row, std::size_t given);
    next raise_arity(const closure_object& callee, std::size_t given);
    next call_control(const builtin& row, std::size_t at, std::size_t count, bool tail);
    struct control_row;
    next control_apply(std::size_t at, std::size_t count, bool tail);
    next apply_to_lists(std::size_t at, bool tail);
    next apply_to_list(std::size_t at, bool tail);
    next apply_pure(const builtin& row, const value& list, std::size_t at);
    next apply_effect(const builtin& row, const value& list, std::size_t at);
    next control_help(std::size_t at, std::size_t count, bool tail);
    next control_eval(std::size_t at, std::size_t count, bool tail);
    next control_parse(std::size_t at, std::size_t count, bool tail);
    next control_read_all(std::size_t at, std::size_t count, bool tail);
    next control_macroexpand(std::size_t at, std::size_t count, bool tail);
    next control_out_of_reach(std::size_t at, std::size_t count, bool tail);
    next control_eval_rest(std::size_t at, std::size_t count, bool tail);
    next control_library(std::size_t at, std::size_t count, bool tail);
    next control_library_done(std::size_t at, std::size_t count, bool tail);
    next control_run_library(std::size_t at, std::size_t count, bool tail);
    next control_eval_source(std::size_t at, std::size_t count, bool tail);
    next control_await(std::size_t at, std::size_t count, bool tail);
    next control_cancel(std::size_t at, std::size_t count, bool tail);
    next control_semaphore(std::size_t at, std::size_t count, bool tail);
    next control_second_run(std::size_t at, std::size_t count, bool tail);
    next control_value(std::size_t at, std::size_t count, value v);

    // code that the program made (interpreter_code.cpp)
    class code_watch;
    next eval_in_place(std::size_t base, instruction i, const value& known);
    next run_program(std::vector<datum> forms, compile_request request, std::size_t at,
                     std::size_t count, bool tail);
    next make_code(code_order order, std::size_t at, pending_job::next_step then);
    next code_made(result<value> outcome, std::size_t at, pending_job::next_step then);
    void forget_arguments(std::size_t at, std::size_t count) noexcept;
    void spend_steps(std::uint64_t work);
    [[nodiscard]] std::optional<error> code_limit();
    [[nodiscard]] compile_request request_for_code() const;
    [[nodiscard]] result<compile_request> request_for_program() const;
    [[nodiscard]] bool sees(const value& policy) const;

    // sandboxes
    [[nodiscard]] sandbox_policy* sandbox() const noexcept;
    [[nodiscard]] sandbox_policy* limits() const noexcept;
    [[nodiscard]] std::optional<error> refuse_in_sandbox(const effect_request& request);
    [[nodiscard]] std::optional<error> sandbox_over(std::size_t used) const;
    [[nodiscard]] error refused_memory(error failure);
    [[nodiscard]] error leaving_sandbox(error failure) const;
    [[nodiscard]] result<scope_ref> open_sandbox(const value& clauses);
    [[nodiscard]] scope_ref scope_of(const host_ref<sandbox_policy>& policy);
    [[nodiscard]] bool is_at_home(const closure_object& callee) const noexcept;
    next call_confined(std::size_t at, std::size_t count, bool tail);
    next call_confined(std::size_t at, value arguments, bool tail);
    [[nodiscard]] value new_closure(const function& code);
    void settle_steps() noexcept;
    [[nodiscard]] static bool enters_sandbox(instruction i) noexcept;
    [[nodiscard]] bool leaves_sandbox(const value& saved) const noexcept;
    next free_dead_first();
    void move_to(scope_ref scope) noexcept;
    void set_memory_limit() noexcept;

    // builtins, and what takes turns with the loop (interpreter_builtins.cpp)
    next run_pure(const builtin& row, builtin_place place);
    next run_native(const builtin& row, const native_code& run, builtin_place place);
    next after_builtin(native_call& call, const native_code& run, value result,
                       builtin_place place);
    next call_update(std::size_t base, instruction i, const builtin& row);
    [[nodiscard]] value* stored_by(value* R, instruction i, std::uint16_t from) noexcept;
    [[nodiscard]] value* home_of_chain(value* R, instruction i) noexcept;
    next start_job(pending_job order, std::size_t dest);
    next continue_job();
    next job_done(result<value> outcome, const pending_job& done);
    next cons_to_copy(std::size_t base, instruction i);
    next equal_took_long(std::size_t base, instruction i, std::optional<bool> same);
    void jump_if_equal(const value& equal, bool jump_when, std::int32_t distance);
    void look_at_next_step();
    void shorten_slice(std::uint32_t steps) noexcept;

    next request_effect(effect_request request, std::size_t dest);
    next call_effect(std::size_t base, instruction i, const builtin& row);
    next call_clauses(std::size_t at, std::size_t count, const value& names);
    next call_at_once(value callee, std::size_t at, std::size_t count, const value& names);
    bool reads_as_clauses(const value& callee, const value& names);

    // errors
    next raise(error failure);
    next raise_where_it_is(error failure);
    void note_leaf_branch();
    next raise_pending() { return raise(*std::exchange(failure_, std::nullopt)); }
    next raise_type(std::string_view what, std::size_t index, std::string_view expected,
                    const value& given);
    next unwind(error failure) noexcept;
    next unwind_to_handler(error failure);
    next look_at_limits_first();
    next unwind_later(error failure, std::size_t left) noexcept;
    next thrown(error failure) noexcept;
    next give_up(error failure) noexcept;
    void leave_branch(inline_branch& ended) noexcept;
    void release_frame() noexcept;
    void forget_plans() noexcept;
    void forget_wait() noexcept;
    void add_trace(error& failure) const;
    void leave_frame() noexcept;
    void finish_fiber(outcome& out) noexcept;
    [[nodiscard]] bool is_to_end() noexcept;
    next stop(error failure);
    [[nodiscard]] error as_common_failure(error failure);
    void fail_outermost(const error& failure) noexcept;
    [[nodiscard]] bool ends_as_a_whole() noexcept;

    // errors that a handler has (interpreter_caught.cpp)
    [[nodiscard]] static std::uint64_t steps_to_describe(const error& failure) noexcept;
    void catch_value(std::size_t base, instruction i);
    void catch_matches(std::size_t base, instruction i);
    next rethrow(std::size_t base, instruction i);
    next rethrow_within(std::size_t base, instruction i);

    // extents and cleanups (interpreter_extents.cpp)
    void begin_cleanup(std::uint32_t target, bool forced, value extent);
    void end_cleanup() noexcept;
    void after_cleanup() noexcept;
    void forget_cleanups() noexcept;
    next pop_settings(std::size_t saved);
    void leave_settings(std::size_t base, instruction i);
    [[nodiscard]] static std::optional<cleanup_limits> held_up(fiber& self,
                                                               const run_budget& budget);
    [[nodiscard]] static cleanup_limits inside(const cleanup_limits& outer, cleanup_limits inner);
    void count_cleanup(std::uint64_t steps);
    void count_effect_of_cleanup();
    [[nodiscard]] std::optional<error> overlong_cleanup();
    next end_overlong(error failure);
    [[nodiscard]] std::optional<error> time_over() const;
    [[nodiscard]] std::optional<error> limit_passed();

    // futures (interpreter_futures.cpp)
    bool make_future(std::size_t base, instruction i);
    [[nodiscard]] static error awaits_own_permit(const semaphore& wanted);
    [[nodiscard]] static error waits_for_own_permit(const semaphore& wanted);
    static void end_wait(fiber& waiting, error failure) noexcept;
    std::optional<error> end_waits(const std::vector<permit_verdict>& found);
    [[nodiscard]] std::optional<error> await_for_ever(future& awaited);
    void end_waits_below_race(const join& race);
    [[nodiscard]] std::vector<permit_waits::circle_member> await_below(const join& group) const;
    [[nodiscard]] error with_circle(error failure,
                                    const std::vector<permit_waits::circle_member>& members);
    [[nodiscard]] bool awaits_itself(const future& awaited) const;

    // permits (interpreter_permits.cpp)
    void lend_permit() noexcept;
    [[nodiscard]] bool regain_permit() noexcept;
    [[nodiscard]] bool owes_permit() noexcept;
    void return_permit() noexcept;
    next send_request();
    next take_permit(std::size_t base, instruction i);
    void release_permit(std::size_t base, instruction i) noexcept;

    // waiting and branches
    next suspend(waiting_for what);
    void begin_inline(inline_branch branch);
    static inline_branch take_inline(fiber& self) noexcept;
    void drop_grant() noexcept;
    [[nodiscard]] bool take_grant(const concurrency_scope* scope) noexcept;
    next branch_call(instruction i, instruction operands, std::size_t base);
    void branch_done(std::size_t base, instruction i);
    next join_end(std::size_t base, instruction i);
    next join_abort(std::size_t base, instruction i);
    [[nodiscard]] permit& current_permit() noexcept;
    [[nodiscard]] branch_place running_branch() const;
    [[nodiscard]] std::uint32_t next_ordinal() noexcept;
    [[nodiscard]] static bool some_branch_is_stopping(fiber& self) noexcept;
    next check_slice();

    // settings
    bool push_settings(std::size_t base, instruction i);
    bool begin_join(std::size_t base, instruction i);
    void make_function(std::size_t base, instruction i);

    // names
    bool global_lookup(std::size_t dest, std::uint32_t index);
    [[nodiscard]] error unbound_global(std::uint32_t index) const;
    [[nodiscard]] error frozen_global(std::uint32_t index) const;
    /// Libraries of the language may be imported at any time.
    [[nodiscard]] bool is_frozen(std::uint32_t index) const noexcept {
        return f_.realm_->is_frozen(index) && !f_.frames_.back().code->hidden;
    }
    bool slow_arithmetic(char operation, const value& left, const value& right, value& dest);
    std::optional<bool> slow_compare(comparison how, const value& left, const value& right);

    /// Whether a function made inside a sandbox is called inside of the same, with as many
    /// arguments as it has parameters.
    [[nodiscard]] bool enters_at_home(const closure_object& callee,
                                      std::uint32_t count) const noexcept {
        if (!callee.confined()) return false;
        const function& code = *callee.code;
        return code.required == count && code.optional == 0 && !code.has_rest &&
               callee.policy().identical(f_.scope_->sandbox.as_value());
    }

    /// Where the running instruction is. Valid after the frame's `at` was saved.
    [[nodiscard]] source_span here() const { return innermost_place(f_); }
    [[nodiscard]] static source_span innermost_place(const fiber& of);
    [[nodiscard]] frame& top() noexcept { return f_.frames_.back(); }

    fiber& f_;
    run_budget& budget_;
    std::uint32_t slice_;
    heap& memory_;
    std::size_t run_limit_; ///< of the heap; a sandbox may set a nearer one
    std::uint32_t fuel_ = 0;
    std::uint32_t given_ = 0;      ///< fuel at the last refill
    slice_work work_;              ///< of builtins
    std::uint64_t unwound_ = 0;    ///< steps of errors on their way out, not paid for yet
    std::optional<error> failure_; ///< set by helpers that return false
    outcome out_;
};

} // namespace heddle::lang
