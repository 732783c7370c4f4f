// The dispatch loop. heddle-check: allow length (one function: computed gotos cannot leave it)
// An opcode is carried out here if a few instructions do; what may wait, report an error or walk
// frames is a function of another interpreter_*.cpp, by subject, that SLOW calls. Moving more out
// would cost a call in the middle of programs that do nothing slow.
// Registers are values in the fiber's stack; `R` points at the frame's first.
// Every path that may grow the stack, change frames or fail saves `pc` first and reloads after.
#include "interpreter.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/equality.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <cmath>

#pragma GCC diagnostic ignored "-Wpedantic" // labels as values: 20 % on fib beside a switch

namespace heddle::lang {

outcome interpreter::run() noexcept {
    out_ = {};
    for (;;) {
        try {
            if (f_.realm_->moves_stacks()) [[unlikely]]
                f_.move_away();
            out_ = dispatch();
            break;
        } catch (...) {
            failure_ = error_of_exception("the machine");
        }
        if (thrown(*std::exchange(failure_, std::nullopt)) == next::leave) break;
    }
    settle_steps();
    memory_.set_limit(run_limit_);
    return std::move(out_);
}

/// Throws after the place of the frame was saved.
outcome interpreter::dispatch() {
    static const void* const labels[] = {
#define HEDDLE_OP(name, operands, result) &&op_##name,
#include <heddle/lang/ops.def>
#undef HEDDLE_OP
    };

    const instruction* pc = nullptr;
    value* R = nullptr;
    std::uint32_t fuel = 0;
    instruction i{};
    next verdict = next::go_on;

#define SAVE() (f_.frames_.back().at = pc)
#define LOAD()                                  \
    do {                                        \
        pc = f_.frames_.back().at;              \
        R = f_.stack_ + f_.frames_.back().base; \
    } while (0)
#define NEXT()                                           \
    do {                                                 \
        i = *pc++;                                       \
        goto* labels[static_cast<std::uint8_t>(i.code)]; \
    } while (0)
#define FUEL()                           \
    do {                                 \
        if (--fuel == 0) goto slice_end; \
    } while (0)
// A slow operation: saves, runs, and continues as its verdict requires. A plain goto: it runs the
// destructors of the block it leaves, which the computed goto of NEXT must never have to.
// The frame knows its place until LOAD.
#define SLOW(call)        \
    do {                  \
        SAVE();           \
        fuel_ = fuel;     \
        pc = nullptr;     \
        verdict = (call); \
        goto after_slow;  \
    } while (0)
#define BASE() (static_cast<std::size_t>(R - f_.stack_))

    try {
        // ---- entry
        fuel_ = 1;
        given_ = 1;
        if (const next entered = check_slice(); entered == next::leave) return std::move(out_);
        if (f_.first_call_ >= 0) {
            const auto count = static_cast<std::size_t>(std::exchange(f_.first_call_, -1));
            if (call_value(0, count, false) == next::leave) return std::move(out_);
        }
        if (f_.job_ && continue_job() == next::leave) return std::move(out_);
        fuel = fuel_;
        if (f_.frames_.empty()) goto finished;
        LOAD();
        NEXT();

    op_nop:
        NEXT();
    op_load_const:
        R[i.a] = f_.frames_.back().code->constants[static_cast<std::uint32_t>(i.d)];
        NEXT();
    op_load_int:
        R[i.a].set_integer(i.d);
        NEXT();
    op_load_unbound:
        R[i.a] = value::unbound();
        NEXT();
    op_move:
        R[i.a] = R[i.b];
        NEXT();
    op_take:
        R[i.a] = std::move(R[i.b]);
        NEXT();
    op_cell_make:
        R[i.a] = make_cell(memory_, std::move(R[i.a]));
        NEXT();
    op_cell_get : {
        const value& content = cell_of(R[i.b])->content;
        if (content.is_unbound()) [[unlikely]]
            goto unbound_name;
        R[i.a] = content;
        NEXT();
    }
    op_cell_peek:
        R[i.a] = value(cell_of(R[i.b])->content);
        NEXT();
    op_cell_set:
        if (i.x != 0) cell_of(R[i.a])->content = std::move(R[i.b]);
        else cell_of(R[i.a])->content = R[i.b];
        NEXT();
    op_up_get:
        R[i.a] = closure_of(R[-1])->captured()[i.b];
        NEXT();
    op_up_cell_get : {
        const value& content = cell_of(closure_of(R[-1])->captured()[i.b])->content;
        if (content.is_unbound()) [[unlikely]]
            goto unbound_name;
        R[i.a] = content;
        NEXT();
    }
    op_up_cell_peek:
        R[i.a] = cell_of(closure_of(R[-1])->captured()[i.b])->content;
        NEXT();
    op_up_cell_set:
        if (i.x != 0) cell_of(closure_of(R[-1])->captured()[i.a])->content = std::move(R[i.b]);
        else cell_of(closure_of(R[-1])->captured()[i.a])->content = R[i.b];
        NEXT();
    op_global_get : {
        const value& content = f_.realm_->global(static_cast<std::uint32_t>(i.d));
        if (content.is_unbound()) [[unlikely]] {
            SAVE();
            if (!global_lookup(BASE() + i.a, static_cast<std::uint32_t>(i.d)))
                SLOW(raise_pending());
            NEXT();
        }
        R[i.a] = content;
        NEXT();
    }
    op_global_define:
        if (is_frozen(static_cast<std::uint32_t>(i.d))) [[unlikely]]
            SLOW(raise(frozen_global(static_cast<std::uint32_t>(i.d))));
        f_.realm_->change_global(static_cast<std::uint32_t>(i.d)) = R[i.a];
        if (i.x != 0) R[i.a].set_nil();
        NEXT();
    op_global_update : {
        const auto index = static_cast<std::uint32_t>(i.d);
        if (f_.realm_->global(index).is_unbound()) [[unlikely]] {
            SLOW(raise(unbound_global(index)));
        }
        if (is_frozen(index)) [[unlikely]]
            SLOW(raise(frozen_global(index)));
        f_.realm_->change_global(index) = R[i.a];
        if (i.x != 0) R[i.a].set_nil();
        NEXT();
    }
    op_dynamic_get : {
        const dynamic_scope& scope = *f_.scope_;
        const value& found = static_cast<dynamic_name>(i.x) == dynamic_name::sandbox
                                 ? scope.sandbox.as_value()
                                 : scope.loop_config;
        if (found.is_unbound()) SLOW(raise(f_.realm_->unbound_error("*loop-config*")));
        R[i.a] = found;
        NEXT();
    }
    op_closure:
        make_function(BASE(), i);
        NEXT();
    op_self:
        R[i.a] = R[-1];
        NEXT();
    op_jump:
        pc += i.d;
        if (i.d < 0) FUEL();
        NEXT();
    op_loop:
        pc += i.d;
        FUEL();
        NEXT();
    op_jump_false:
        if (!R[i.a].truthy()) {
            pc += i.d;
            if (i.d < 0) FUEL();
        }
        NEXT();
    op_jump_true:
        if (R[i.a].truthy()) {
            pc += i.d;
            if (i.d < 0) FUEL();
        }
        NEXT();
    op_jump_bound:
        if (!R[i.a].is_unbound()) pc += i.d;
        NEXT();
// Two words: the comparison, then the jump.
#define COMPARE(symbol, letter, right_integer, right_value)         \
    do {                                                            \
        bool holds;                                                 \
        const value& left = R[i.a];                                 \
        if (left.is_integer() && (right_integer)) [[likely]] {      \
            holds = left.as_integer() symbol(right_value);          \
        } else {                                                    \
            goto compare_##letter;                                  \
        }                                                           \
        const std::int32_t distance = (pc++)->d;                    \
        if (holds == (i.x != 0)) {                                  \
            pc += distance;                                         \
            if (distance < 0) FUEL(); /* the back-edge of a loop */ \
        }                                                           \
        NEXT();                                                     \
    } while (0)

    op_jump_lt:
        COMPARE(<, lt, R[i.b].is_integer(), R[i.b].as_integer());
    op_jump_le:
        COMPARE(<=, le, R[i.b].is_integer(), R[i.b].as_integer());
    op_jump_num_eq:
        COMPARE(==, num_eq, R[i.b].is_integer(), R[i.b].as_integer());
    op_jump_lt_i:
        COMPARE(<, lt_i, true, static_cast<std::int16_t>(i.b));
    op_jump_le_i:
        COMPARE(<=, le_i, true, static_cast<std::int16_t>(i.b));
    op_jump_gt_i:
        COMPARE(>, gt_i, true, static_cast<std::int16_t>(i.b));
    op_jump_ge_i:
        COMPARE(>=, ge_i, true, static_cast<std::int16_t>(i.b));
    op_jump_num_eq_i:
        COMPARE(==, num_eq_i, true, static_cast<std::int16_t>(i.b));
    op_jump_equal : {
        const std::optional<bool> same = values_equal(R[i.a], R[i.b], work_);
        if (work_.over()) [[unlikely]]
            SLOW(equal_took_long(BASE(), i, same));
        const bool holds = *same;
        const std::int32_t distance = (pc++)->d;
        if (holds == (i.x != 0)) {
            pc += distance;
            if (distance < 0) FUEL();
        }
        NEXT();
    }

#define SLOW_COMPARE(name, how, right)                                      \
    compare_##name : {                                                      \
        const std::optional<bool> holds = slow_compare(how, R[i.a], right); \
        if (!holds) SLOW(raise_pending());                                  \
        const std::int32_t distance = (pc++)->d;                            \
        if (*holds == (i.x != 0)) {                                         \
            pc += distance;                                                 \
            if (distance < 0) FUEL();                                       \
        }                                                                   \
        NEXT();                                                             \
    }
#define IMMEDIATE() value::integer(static_cast<std::int16_t>(i.b))
        SLOW_COMPARE(lt, comparison::lt, R[i.b])
        SLOW_COMPARE(le, comparison::le, R[i.b])
        SLOW_COMPARE(num_eq, comparison::num_eq, R[i.b])
        SLOW_COMPARE(lt_i, comparison::lt, IMMEDIATE())
        SLOW_COMPARE(le_i, comparison::le, IMMEDIATE())
        SLOW_COMPARE(gt_i, comparison::gt, IMMEDIATE())
        SLOW_COMPARE(ge_i, comparison::ge, IMMEDIATE())
        SLOW_COMPARE(num_eq_i, comparison::num_eq, IMMEDIATE())

#define ARITHMETIC(builtin_overflow, symbol, letter, right)                             \
    do {                                                                                \
        const value& l = R[i.b];                                                        \
        const value& r = right;                                                         \
        if (l.is_integer() && r.is_integer()) [[likely]] {                              \
            std::int64_t exact;                                                         \
            if (!builtin_overflow(l.as_integer(), r.as_integer(), &exact)) [[likely]] { \
                R[i.a].set_integer(exact);                                              \
                NEXT();                                                                 \
            }                                                                           \
        } else if (l.is_real() && r.is_real()) {                                        \
            R[i.a] = value::real(l.as_real() symbol r.as_real());                       \
            NEXT();                                                                     \
        }                                                                               \
        if (!slow_arithmetic(letter, l, r, R[i.a])) SLOW(raise_pending());              \
        NEXT();                                                                         \
    } while (0)
#define ARITHMETIC_I(builtin_overflow, letter)                                             \
    do {                                                                                   \
        const value& l = R[i.b];                                                           \
        const std::int64_t r = static_cast<std::int16_t>(i.c);                             \
        std::int64_t exact;                                                                \
        if (l.is_integer() && !builtin_overflow(l.as_integer(), r, &exact)) [[likely]] {   \
            R[i.a].set_integer(exact);                                                     \
            NEXT();                                                                        \
        }                                                                                  \
        if (!slow_arithmetic(letter, l, value::integer(r), R[i.a])) SLOW(raise_pending()); \
        NEXT();                                                                            \
    } while (0)

    op_add:
        ARITHMETIC(__builtin_add_overflow, +, '+', R[i.c]);
    op_sub:
        ARITHMETIC(__builtin_sub_overflow, -, '-', R[i.c]);
    op_mul:
        ARITHMETIC(__builtin_mul_overflow, *, '*', R[i.c]);
    op_add_i:
        ARITHMETIC_I(__builtin_add_overflow, '+');
    op_sub_i:
        ARITHMETIC_I(__builtin_sub_overflow, '-');
    op_mul_i:
        ARITHMETIC_I(__builtin_mul_overflow, '*');
    op_logic_not:
        R[i.a] = value::boolean(!R[i.b].truthy());
        NEXT();
    op_is_empty : {
        const value& v = R[i.b];
        R[i.a] = value::boolean(v.is_nil() || (v.is(kind::list) && v.length() == 0));
        NEXT();
    }
    op_cons : {
        value& list = R[i.c];
        if (!list.is(kind::list)) [[unlikely]]
            SLOW(raise_type("cons", 2, "a list", list));
        auto* storage = static_cast<list_object*>(list.target());
        if (storage && storage->takes_before(list.offset())) [[likely]] {
            heap::note_growth(storage, R[i.b]);
            new (storage->items() + --storage->begin) value(R[i.b]);
            const std::uint64_t length = list.length() + std::uint64_t{1};
            if (i.x != 0) R[i.a] = std::move(list).window(storage->begin, length);
            else R[i.a] = list.window(storage->begin, length);
            NEXT();
        }
        constexpr std::uint32_t few = 16; // copied at once
        if (list.length() > few && (i.x == 0 || !list_grows_at_front(list)))
            SLOW(cons_to_copy(BASE(), i));
        if (i.x != 0) R[i.a] = list_push_front(memory_, R[i.b], std::move(list));
        else R[i.a] = list_push_front(memory_, R[i.b], list);
        NEXT();
    }
    op_first : {
        const value& v = R[i.b];
        if (!v.is(kind::list)) [[unlikely]]
            SLOW(raise_type("first", 1, "a list", v));
        if (v.length() == 0) [[unlikely]]
            SLOW(raise(error(errc::evaluation, "first: the list is empty")));
        R[i.a] = value(static_cast<const list_object*>(v.target())->items()[v.offset()]);
        NEXT();
    }
    op_rest : {
        value& v = R[i.b];
        if (!v.is(kind::list)) [[unlikely]]
            SLOW(raise_type("rest", 1, "a list", v));
        if (v.length() <= 1) {
            R[i.a] = value::empty_list();
            NEXT();
        }
        const std::uint64_t left = v.length() - std::uint64_t{1};
        if (static_cast<const list_object*>(v.target())->outweighs(left)) [[unlikely]] {
            R[i.a] = list_slice(v, 1, left + 1);
            NEXT();
        }
        const std::uint64_t offset = v.offset() + std::uint64_t{1};
        if (i.x != 0) R[i.a] = std::move(v).window(offset, left);
        else R[i.a] = v.window(offset, left);
        NEXT();
    }
    op_length : {
        const value& v = R[i.b];
        if (!v.is(kind::list)) [[unlikely]] {
            SLOW(run_pure(*find_builtin("length"),
                          {BASE() + i.a, BASE() + i.b, 1, builtin_place::arguments::keep}));
        }
        R[i.a].set_integer(v.length());
        NEXT();
    }
    op_nth : {
        const value& list = R[i.b];
        const value& index = R[i.c];
        if (!list.is(kind::list)) [[unlikely]]
            SLOW(raise_type("nth", 1, "a list", list));
        if (!index.is_integer()) [[unlikely]]
            SLOW(raise_type("nth", 2, "an integer", index));
        if (static_cast<std::uint64_t>(index.as_integer()) >= list.length()) [[unlikely]] {
            SLOW(raise(error(errc::evaluation, "nth: index " + std::to_string(index.as_integer()) +
                                                   " is outside a list of " +
                                                   std::to_string(list.length()))));
        }
        R[i.a] =
            value(static_cast<const list_object*>(list.target())
                      ->items()[list.offset() + static_cast<std::uint64_t>(index.as_integer())]);
        NEXT();
    }
    op_list:
        R[i.a] = make_list(memory_, std::span<const value>(R + i.b, i.c));
        NEXT();

    op_call_global : {
        const instruction where = *pc++;
        const value& callee = f_.realm_->global(static_cast<std::uint32_t>(where.d));
        if (callee.is_unbound()) [[unlikely]] {
            SAVE();
            if (!global_lookup(BASE() + i.a, static_cast<std::uint32_t>(where.d)))
                SLOW(raise_pending());
        } else {
            R[i.a] = callee;
        }
    }
    op_call : {
        const value& callee = R[i.a];
        if (callee.is(kind::closure)) [[likely]] {
            const closure_object* closure = closure_of(callee);
            if (closure->arity == i.b || enters_at_home(*closure, i.b)) [[likely]] {
                const function* code = closure->code;
                const std::size_t base = BASE() + i.a + 1U;
                SAVE();
                if (base + code->registers > f_.capacity_) [[unlikely]] {
                    f_.reserve(base + code->registers);
                    f_.frames_.push_back(code->code.data(), code, static_cast<std::uint32_t>(base));
                    pc = code->code.data();
                    // Frames of many registers could pass the limit by far within one slice.
                    if (memory_.over_limit()) goto limit_passed;
                    R = f_.stack_ + base;
                    FUEL();
                    NEXT();
                }
                f_.frames_.push_back(code->code.data(), code, static_cast<std::uint32_t>(base));
                pc = code->code.data();
                R = f_.stack_ + base;
                FUEL();
                NEXT();
            }
        }
        if (callee.is(kind::builtin)) {
            // `(reduce + 0 xs)` and the like: a builtin that is a value needs no slow path.
            const builtin& row = callee.as_builtin();
            if (row.how == builtin_kind::pure && i.b >= row.min_arguments &&
                i.b <= row.max_arguments) {
                {
                    native_call call(memory_, row, work_);
                    value created = row.run(call, std::span<value>(R + i.a + 1, i.b));
                    if (call.failure() || work_.over()) [[unlikely]]
                        SLOW(after_builtin(call, row.run, std::move(created),
                                           {BASE() + i.a, BASE() + i.a + 1, i.b,
                                            builtin_place::arguments::clear}));
                    R[i.a] = std::move(created);
                    for (std::uint32_t k = 1; k <= i.b; ++k) R[i.a + k].set_nil(); // moved on
                }
                NEXT();
            }
        }
        SLOW(call_value(BASE() + i.a, i.b, false));
    }
    op_tail_call_global : {
        const instruction where = *pc++;
        const value& callee = f_.realm_->global(static_cast<std::uint32_t>(where.d));
        if (callee.is_unbound()) [[unlikely]] {
            SAVE();
            if (!global_lookup(BASE() + i.a, static_cast<std::uint32_t>(where.d)))
                SLOW(raise_pending());
        } else {
            R[i.a] = callee;
        }
    }
    op_tail_call : {
        const value& callee = R[i.a];
        if (callee.is(kind::closure)) [[likely]] {
            const closure_object* closure = closure_of(callee);
            if (closure->arity == i.b || enters_at_home(*closure, i.b)) [[likely]] {
                const function* code = closure->code;
                frame& self = f_.frames_.back();
                const std::uint32_t old_registers = self.code->cleared;
                if (self.base + code->registers > f_.capacity_) [[unlikely]] {
                    f_.reserve(self.base + code->registers);
                    R = f_.stack_ + self.base;
                }
                if (code->hidden || self.code->hidden) [[unlikely]] {
                    SAVE();
                    note_tail_call(self, *code);
                } else {
                    self.tail_calls += self.tail_calls != UINT32_MAX;
                }
                value* from = R + i.a;
                R[-1] = std::move(*from); // may free the code that runs: not touched any more
                for (std::uint32_t k = 0; k < i.b; ++k) R[k] = std::move(from[k + 1]);
                for (std::uint32_t k = i.b; k < old_registers; ++k) R[k].set_nil();
                self.code = code;
                pc = code->code.data();
                self.at = pc;
                FUEL();
                NEXT();
            }
        }
        SLOW(call_value(BASE() + i.a, i.b, true));
    }
    op_call_builtin : {
        const instruction which = *pc++;
        {
            const builtin& row =
                f_.frames_.back().code->constants[static_cast<std::uint32_t>(which.d)].as_builtin();
            native_call call(memory_, row, work_);
            value created = row.run(call, std::span<value>(R + i.b, i.c));
            if (call.failure() || work_.over()) [[unlikely]]
                SLOW(after_builtin(call, row.run, std::move(created),
                                   {BASE() + i.a, BASE() + i.b, i.c,
                                    i.x != 0 ? builtin_place::arguments::clear
                                             : builtin_place::arguments::leave}));
            if (i.x != 0) {
                for (std::uint32_t k = 0; k < i.c; ++k) R[i.b + k].set_nil();
            }
            R[i.a] = std::move(created);
        }
        NEXT();
    }
    op_call_update : {
        const instruction which = *pc++;
        SLOW(call_update(
            BASE(), i,
            f_.frames_.back().code->constants[static_cast<std::uint32_t>(which.d)].as_builtin()));
    }
    op_call_effect : {
        const instruction which = *pc++;
        SLOW(call_effect(
            BASE(), i,
            f_.frames_.back().code->constants[static_cast<std::uint32_t>(which.d)].as_builtin()));
    }
    op_call_clauses : {
        const instruction which = *pc++;
        SLOW(call_clauses(BASE() + i.a, i.b,
                          f_.frames_.back().code->constants[static_cast<std::uint32_t>(which.d)]));
    }
    op_jump_unless_clauses : {
        const instruction target = *pc++;
        if (!reads_as_clauses(R[i.a], f_.frames_.back().code->constants[i.b])) pc += target.d;
        NEXT();
    }
    op_eval_code : {
        const instruction site = *pc++;
        SLOW(eval_in_place(BASE(), i,
                           f_.frames_.back().code->constants[static_cast<std::uint32_t>(site.d)]));
    }
    op_return_value : {
        {
            const std::uint32_t registers = f_.frames_.back().code->cleared;
            value result = std::move(R[i.a]);
            for (value *r = R, *end = R + registers; r != end; ++r) {
                if (r->is_object()) r->set_nil();
            }
            R[-1] = std::move(result); // the caller's register of the callee
        }
        f_.frames_.pop_back();
        if (f_.frames_.empty()) goto finished;
        LOAD();
        NEXT();
    }
    op_rethrow:
        SLOW(rethrow(BASE(), i));
    op_rethrow_within:
        SLOW(rethrow_within(BASE(), i));
    op_catch_value:
        catch_value(BASE(), i);
        NEXT();
    op_catch_matches:
        catch_matches(BASE(), i);
        NEXT();
    op_settings_push:
        if (memory_.has_dead() && enters_sandbox(i)) [[unlikely]]
            SLOW(free_dead_first());
        SAVE();
        fuel_ = fuel;
        if (!push_settings(BASE(), i)) SLOW(raise_pending());
        fuel = fuel_; // the first step of a sandbox is looked at
        NEXT();
    op_settings_pop:
        if (memory_.has_dead() && leaves_sandbox(R[i.a])) [[unlikely]]
            SLOW(free_dead_first());
        SLOW(pop_settings(BASE() + i.a));
    op_settings_leave:
        if (memory_.has_dead() && leaves_sandbox(R[i.a])) [[unlikely]]
            SLOW(free_dead_first());
        fuel_ = fuel;
        leave_settings(BASE(), i);
        fuel = fuel_;
        NEXT();
    op_join_begin:
        SAVE();
        if (!begin_join(BASE(), i)) SLOW(raise_pending());
        NEXT();
    op_branch_call : {
        const instruction operands = *pc++;
        const value& callee = R[i.a];
        if (i.x == 0 && callee.is(kind::closure)) {
            // A branch that cannot wait needs neither a permit nor a record of its own; should it
            // fail, note_leaf_branch makes up for it.
            const function* code = closure_of(callee)->code;
            if (code->leaf && closure_of(callee)->arity == i.b &&
                !static_cast<const join*>(host_of(R[operands.b]))->stopping()) [[likely]] {
                const std::size_t base = BASE() + i.a + 1U;
                if (base + code->registers > f_.capacity_) [[unlikely]]
                    f_.reserve(base + code->registers);
                SAVE();
                f_.frames_.push_back(code->code.data(), code, static_cast<std::uint32_t>(base));
                pc = code->code.data();
                R = f_.stack_ + base;
                FUEL();
                NEXT();
            }
        }
        SLOW(branch_call(i, operands, BASE()));
    }
    op_branch_done:
        if (f_.branches_.empty() || f_.branches_.back().first_frame != f_.frames_.size()) {
            static_cast<join*>(host_of(R[i.b]))
                ->deliver(static_cast<std::uint32_t>(R[i.c].as_integer()), std::move(R[i.a]));
        } else {
            branch_done(BASE(), i);
        }
        NEXT();
    op_join_end:
        SLOW(join_end(BASE(), i));
    op_join_abort:
        SLOW(join_abort(BASE(), i));
    op_future_make:
        SAVE();
        if (!make_future(BASE(), i)) SLOW(raise_pending());
        NEXT();
    op_permit_take:
        SLOW(take_permit(BASE(), i));
    op_permit_release:
        release_permit(BASE(), i);
        NEXT();

    unbound_name:
        SLOW(raise(f_.realm_->unbound_error(symbol_name(f_.frames_.back().code->constants[i.c]))));

    limit_passed:
        SLOW(check_slice());

    slice_end:
        SAVE();
        fuel_ = 0;
        pc = nullptr;
        verdict = check_slice();
    after_slow:
        fuel = fuel_;
        if (verdict == next::leave) goto leave;
        if (f_.frames_.empty()) goto finished;
        LOAD();
        NEXT();

    finished:
        if (f_.lender_ && owes_permit()) [[unlikely]] {
            f_.permit_.scope->wait(f_);
            fuel_ = fuel;
            (void)suspend(waiting_for::permit);
            goto leave;
        }
        out_.kind = outcome_kind::done;
        out_.result = std::move(f_.stack_[0]);
        fuel_ = fuel;
        finish_fiber(out_);
    leave:
        settle_steps();
        return std::move(out_);
    } catch (...) {
        if (pc && !f_.frames_.empty()) {
            SAVE();
            fuel_ = std::min(fuel, given_);
        }
        throw;
    }
}

} // namespace heddle::lang
