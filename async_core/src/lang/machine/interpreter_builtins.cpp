// Builtins that take long: what they do is paid for in steps, and done in turns with the loop.
#include "builtin_job.hpp"
#include "interpreter.hpp"

#include <heddle/lang/equality.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <iterator>

namespace heddle::lang {

void interpreter::look_at_next_step() {
    settle_steps();
    given_ = fuel_ = 1;
}

/// So many steps were done for the fiber elsewhere.
void interpreter::spend_steps(std::uint64_t work) {
    settle_steps();
    given_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(work, UINT32_MAX));
    fuel_ = 0;
    look_at_next_step();
}

interpreter::next interpreter::run_pure(const builtin& row, builtin_place place) {
    return run_native(row, row.run, place);
}

/// `run`: the code of `row`, or what takes its place.
interpreter::next interpreter::run_native(const builtin& row, const native_code& run,
                                          builtin_place place) {
    native_call call(memory_, row, work_);
    value result = run(call, std::span<value>(f_.stack_ + place.first, place.count));
    return after_builtin(call, run, std::move(result), place);
}

/// A builtin has returned: with a value, an error, or because it takes long.
interpreter::next interpreter::after_builtin(native_call& call, const native_code& run,
                                             value result, builtin_place place) {
    using arguments = builtin_place::arguments;
    value* const first = f_.stack_ + place.first;
    const builtin& row = call.row();
    if (work_.stopped()) {
        std::vector<value> given(first, first + place.count);
        if (place.then != arguments::keep)
            std::for_each(first, first + place.count, [](value& each) { each.set_nil(); });
        pending_job order;
        order.job = std::make_unique<builtin_job>(*f_.realm_, row, run, std::move(given));
        order.knows_place = row.how == builtin_kind::control;
        return start_job(std::move(order), place.dest);
    }
    if (work_.over()) look_at_next_step();
    if (call.failure()) {
        if (row.how != builtin_kind::control) return raise(*std::move(call.failure()));
        return raise_where_it_is(*std::move(call.failure()));
    }
    if (place.then == arguments::clear)
        std::for_each(first, first + place.count, [](value& each) { each.set_nil(); });
    f_.stack_[place.dest] = std::move(result);
    return next::go_on;
}

/// Where an instruction stores the register `from`: the content of a cell, or a global.
value* interpreter::stored_by(value* R, instruction i, std::uint16_t from) noexcept {
    switch (i.code) {
    case op::cell_set: return i.b == from ? &cell_of(R[i.a])->content : nullptr;
    case op::up_cell_set:
        return i.b == from ? &cell_of(closure_of(R[-1])->captured()[i.a])->content : nullptr;
    case op::global_define:
    case op::global_update:
        if (is_frozen(static_cast<std::uint32_t>(i.d))) return nullptr;
        return i.a == from ? f_.realm_->try_change_global(static_cast<std::uint32_t>(i.d))
                           : nullptr;
    default: return nullptr;
    }
}

namespace {

/// Whether puts into a list or a map, all in place, can fail or need memory.
class foreseen_puts {
public:
    explicit foreseen_puts(const value& into)
        : into_(into), free_(into.is(kind::map) ? map_free_places(into) : 0) {}

    [[nodiscard]] bool takes(const value& key) noexcept {
        if (into_.is(kind::list)) {
            return key.is_integer() &&
                   static_cast<std::uint64_t>(key.as_integer()) < into_.length() &&
                   !static_cast<const list_object*>(into_.target())->places;
        }
        constexpr std::size_t longest = 4096; // bytes that are looked at without a pause
        if (!into_.is(kind::map) || !(key.is(kind::string) || key.is(kind::symbol))) return false;
        const std::string_view name = key.is(kind::string) ? string_bytes(key) : symbol_name(key);
        if (name.size() > longest) return false;
        work_ += 1 + name.size() / work_meter::bytes_of_a_unit;
        if (map_find(into_, name)) return true;
        if (!key.is(kind::string) || free_ == 0) return false; // a symbol has to become a string
        --free_;
        return true;
    }

    /// What they do, in units.
    [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

private:
    const value& into_;
    std::size_t free_; ///< places for new keys
    std::uint64_t work_ = 0;
};

} // namespace

/// Where the last of a chain of puts stores its result; null when one of them may fail, or when
/// what is computed between them may: what the first one changes would be lost.
value* interpreter::home_of_chain(value* R, instruction i) noexcept {
    const value& into = R[i.b];
    foreseen_puts puts(into);
    if (!puts.takes(R[i.b + 1])) return nullptr;
    value key;
    for (const instruction* at = top().at;; ++at) {
        const instruction now = *at;
        value result;
        switch (now.code) {
        case op::load_const:
            result = top().code->constants[static_cast<std::uint32_t>(now.d)];
            break;
        case op::load_int: result = value::integer(now.d); break;
        case op::move:
        case op::take: result = R[now.b]; break;
        case op::up_get: result = closure_of(R[-1])->captured()[now.b]; break;
        case op::cell_get: result = cell_of(R[now.b])->content; break;
        case op::up_cell_get:
            result = cell_of(closure_of(R[-1])->captured()[now.b])->content;
            break;
        case op::global_get: result = f_.realm_->global(static_cast<std::uint32_t>(now.d)); break;
        case op::add:
        case op::sub:
        case op::add_i:
        case op::sub_i: {
            const bool near = now.code == op::add_i || now.code == op::sub_i;
            const bool plus = now.code == op::add || now.code == op::add_i;
            const value right = near ? value::integer(static_cast<std::int16_t>(now.c)) : R[now.c];
            if (!R[now.b].is_integer() || !right.is_integer()) return nullptr;
            std::int64_t exact = 0;
            const std::int64_t l = R[now.b].as_integer();
            const std::int64_t r = right.as_integer();
            if (plus ? __builtin_add_overflow(l, r, &exact) : __builtin_sub_overflow(l, r, &exact))
                return nullptr;
            result = value::integer(exact);
            break;
        }
        case op::call_builtin:
            if (!puts.takes(key)) return nullptr;
            i = now;
            ++at;
            key = value();
            continue;
        default:
            // Nor may one of them be stopped, to go on as a job.
            if (puts.work() > work_meter::units_of_a_turn || !work_.expect(puts.work()))
                return nullptr;
            return stored_by(R, now, i.a);
        }
        // What is read is not there while it is changed.
        if (result.is_unbound() || (result.target() && result.target() == into.target()))
            return nullptr;
        if (now.a == i.a + 1) key = std::move(result);
    }
}

/// op::call_update: what the result replaces need not be kept meanwhile. Nobody sees that it is
/// gone.
interpreter::next interpreter::call_update(std::size_t base, instruction i, const builtin& row) {
    value* R = f_.stack_ + base;
    const builtin_place place{base + i.a, base + i.b, i.c};
    value* const home = i.x != 0 ? home_of_chain(R, i) : stored_by(R, *top().at, i.a);
    if (!home || !home->identical(R[i.b]) || !home->target() || home->target()->references != 2)
        return run_pure(row, place);
    home->set_nil();
    native_call call(memory_, row, work_);
    value result;
    try {
        result = row.run(call, std::span<value>(R + i.b, i.c));
    } catch (...) { // it has changed nothing
        *home = R[i.b];
        throw;
    }
    if (call.failure() || work_.stopped()) *home = R[i.b];
    return after_builtin(call, row.run, std::move(result), place);
}

/// op::cons, where the list has no room in front: its copy is work, and memory.
interpreter::next interpreter::cons_to_copy(std::size_t base, instruction i) {
    value* R = f_.stack_ + base;
    value& list = R[i.c];
    if (value* home = i.x != 0 ? stored_by(R, *top().at, i.a) : nullptr;
        home && home->target() == list.target() && list.target()->references == 2) {
        // As in call_update(): what is replaced need not be kept.
        const std::uint64_t offset = home->offset();
        const std::uint64_t length = home->length();
        home->set_nil();
        if (list_grows_at_front(list)) {
            R[i.a] = list_push_front(memory_, R[i.b], std::move(list));
            return next::go_on;
        }
        *home = list.window(offset, length);
    }
    static const builtin& row = *find_builtin("cons");
    value both[] = {R[i.b], i.x != 0 ? std::move(list) : list};
    native_call call(memory_, row, work_);
    value result = row.run(call, std::span<value>(both));
    if (work_.stopped()) {
        pending_job order;
        order.job = std::make_unique<builtin_job>(*f_.realm_, row, row.run,
                                                  std::vector<value>(both, both + 2));
        order.knows_place = false;
        return start_job(std::move(order), base + i.a);
    }
    if (work_.over()) look_at_next_step();
    if (call.failure()) return raise(*std::move(call.failure()));
    f_.stack_[base + i.a] = std::move(result);
    return next::go_on;
}

/// What was done takes time of the slice, and is not work of the program.
void interpreter::shorten_slice(std::uint32_t steps) noexcept {
    look_at_next_step();
    slice_ -= std::min(slice_, steps);
}

/// The first turn of what the fiber waits for. The result goes to `dest`.
interpreter::next interpreter::start_job(pending_job order, std::size_t dest) {
    constexpr std::uint32_t steps_of_a_stack = 500;
    shorten_slice(steps_of_a_stack);
    work_.begin(0); // what comes after it is not stopped because of it
    f_.result_slot_ = static_cast<std::uint32_t>(dest);
    f_.job_ = std::make_unique<pending_job>(std::move(order));
    return continue_job();
}

/// Another turn of it.
interpreter::next interpreter::continue_job() {
    const native_stack::progress result = f_.job_->job->resume();
    spend_steps(f_.job_->job->take_spent());
    if (result != native_stack::progress::ended) {
        out_.kind = outcome_kind::out_of_steps;
        out_.idle = result == native_stack::progress::queued;
        return next::leave;
    }
    const auto done = std::move(f_.job_);
    return job_done(done->job->take(), *done);
}

interpreter::next interpreter::job_done(result<value> outcome, const pending_job& done) {
    // An error in the program's own text has its place, and nothing called it.
    if (!outcome && done.then == pending_job::next_step::begin)
        return unwind(std::move(outcome).error());
    if (!outcome && !done.knows_place) return raise(std::move(outcome).error());
    if (!outcome || done.then != pending_job::next_step::jump)
        return code_made(std::move(outcome), f_.result_slot_, done.then);
    jump_if_equal(*outcome, done.jump_when, done.distance);
    return next::go_on;
}

void interpreter::jump_if_equal(const value& equal, bool jump_when, std::int32_t distance) {
    if (equal.truthy() == jump_when) top().at += distance;
}

/// op::jump_equal, of values that take long to compare. `same`: nothing when that was stopped. The
/// frame is at the second word.
interpreter::next interpreter::equal_took_long(std::size_t base, instruction i,
                                               std::optional<bool> same) {
    const std::int32_t distance = (top().at++)->d;
    if (same) {
        look_at_next_step();
        jump_if_equal(value::boolean(*same), i.x != 0, distance);
        return next::go_on;
    }
    const builtin& row = *find_builtin("equal?");
    std::vector<value> both{f_.stack_[base + i.a], f_.stack_[base + i.b]};
    pending_job order;
    order.job = std::make_unique<builtin_job>(*f_.realm_, row, row.run, std::move(both));
    order.then = pending_job::next_step::jump;
    order.knows_place = false;
    order.jump_when = i.x != 0;
    order.distance = distance;
    return start_job(std::move(order), base + i.a);
}

} // namespace heddle::lang
