// (apply f x… xs). A long list is not put on the stack, which would take long in one go: what gets
// all of it gets it as a list, or copies it in turns.
#include "builtin_job.hpp"
#include "interpreter.hpp"

#include "lang/builtins/support.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t few = 4096; ///< arguments that are put on the stack in one go

/// For the copies that apply makes, so that their errors name it.
[[nodiscard]] const builtin& row_of_copies() {
    static const builtin row = [] {
        builtin copies = *find_builtin("append");
        copies.name = "apply";
        return copies;
    }();
    return row;
}

[[nodiscard]] bool is_apply(const value& callee) {
    static const builtin& row = *find_builtin("apply");
    return callee.is(kind::builtin) && &callee.as_builtin() == &row;
}

} // namespace

interpreter::next interpreter::control_apply(std::size_t at, std::size_t count, bool tail) {
    // Of (apply apply … f xs) each one but the last only takes the last argument apart.
    std::size_t callee = at + 1;
    std::size_t end = at + count + 1; // of the arguments
    for (bool first = true;; first = false) {
        if (!first) {
            if (!is_apply(f_.stack_[callee]) || end - callee < 3) break;
            ++callee;
        }
        const value list = std::move(f_.stack_[end - 1]);
        if (!list.is(kind::list)) return raise_type("apply", end - callee, "a list", list);
        const std::size_t spread = list.length();
        if (end - at + spread > few) {
            if (is_apply(f_.stack_[callee]))
                return raise(error(errc::limit, "apply: more than " + std::to_string(few) +
                                                    " arguments of apply itself"));
            value leading = make_list(
                memory_, std::span<const value>(f_.stack_ + callee + 1, end - callee - 2));
            f_.stack_[at] = std::move(f_.stack_[callee]);
            for (std::size_t k = at + 1; k < end; ++k) f_.stack_[k].set_nil();
            if (leading.length() == 0) {
                f_.stack_[at + 1] = list;
                return apply_to_list(at, tail);
            }
            f_.stack_[at + 1] = std::move(leading);
            f_.stack_[at + 2] = list;
            return apply_to_lists(at, tail);
        }
        if (spread > 1024) spend_steps(spread / work_meter::units_of_a_step);
        f_.reserve(end + spread);
        const std::span<const value> items = list_items(list);
        std::copy(items.begin(), items.end(), f_.stack_ + end - 1);
        end += spread;
        --end;
    }
    value* const R = f_.stack_;
    const std::size_t moved = end - callee;
    for (std::size_t k = 0; k < moved; ++k) R[at + k] = std::move(R[callee + k]);
    return call_value(at, moved - 1, tail);
}

/// Leading arguments and a long list, at `at` + 1 and + 2: together first, which takes turns.
interpreter::next interpreter::apply_to_lists(std::size_t at, bool tail) {
    pending_job order;
    std::vector<value> both(2);
    both[0] = std::move(f_.stack_[at + 1]);
    both[1] = std::move(f_.stack_[at + 2]);
    const builtin& row = row_of_copies();
    order.job = std::make_unique<builtin_job>(*f_.realm_, row, row.run, std::move(both));
    order.then = tail ? pending_job::next_step::tail_apply : pending_job::next_step::apply;
    order.knows_place = false;
    return start_job(std::move(order), at + 1);
}

/// Calls what is at `at` with the elements of the long list above it.
interpreter::next interpreter::apply_to_list(std::size_t at, bool tail) {
    const value callee = f_.stack_[at];
    const value list = std::move(f_.stack_[at + 1]);
    const std::size_t count = list.length();
    if (callee.is(kind::closure)) {
        const closure_object& closure = *closure_of(callee);
        if (closure.confined() && !is_at_home(closure)) return call_confined(at, list, tail);
        const function& code = *closure.code;
        const std::size_t positional = code.required + std::size_t{code.optional};
        if (count > positional) {
            if (!code.has_rest) return raise_arity(closure, count);
            f_.reserve(at + 2 + std::max<std::size_t>(code.registers, positional + 1));
            value* const R = f_.stack_ + at + 1;
            std::copy_n(list_items(list).begin(), positional, R);
            R[positional] = list_slice(list, positional, count);
            return start_frame(at, tail);
        }
    } else if (callee.is(kind::builtin)) {
        const builtin& row = callee.as_builtin();
        if (count < row.min_arguments ||
            (row.max_arguments != builtin::any_number && count > row.max_arguments))
            return raise_arity(row, count);
        if (row.how == builtin_kind::pure) return apply_pure(row, list, at);
        if (row.how == builtin_kind::effect) return apply_effect(row, list, at);
    } else if (!(host_of(callee) && host_of(callee)->callable())) {
        return call_value(at, 0, tail); // the error
    }
    if (!memory_.can_allocate(count * sizeof(value))) {
        return raise(error(errc::limit, "apply: " + std::to_string(count) +
                                            " arguments do not fit in the memory limit"));
    }
    spend_steps(count / work_meter::units_of_a_step);
    f_.reserve(at + count + 1);
    const std::span<const value> items = list_items(list);
    std::copy(items.begin(), items.end(), f_.stack_ + at + 1);
    return call_value(at, count, tail);
}

/// An effect gets the elements, which need not pass the stack.
interpreter::next interpreter::apply_effect(const builtin& row, const value& list, std::size_t at) {
    const std::span<const value> items = list_items(list);
    if (!memory_.can_allocate(items.size_bytes())) {
        return raise(error(errc::limit, "apply: " + std::to_string(items.size()) +
                                            " arguments do not fit in the memory limit"));
    }
    spend_steps(items.size() / work_meter::units_of_a_step);
    effect_request request;
    request.row = &row;
    request.arguments.assign(items.begin(), items.end());
    return request_effect(std::move(request), at);
}

/// A builtin gets a copy of the list: it may move its arguments elsewhere.
interpreter::next interpreter::apply_pure(const builtin& row, const value& list, std::size_t at) {
    const native_code run = [&row](native_call& call, std::span<value> given) -> value {
        const std::size_t count = given[0].length();
        const std::size_t bytes = count * sizeof(value);
        if (!call.memory().make_room(bytes)) {
            return call.fail(error(errc::limit, "apply: " + std::to_string(count) +
                                                    " arguments do not fit in the memory limit"));
        }
        if (!call.expect(2 * count)) return {};
        // What dies as a list dies in turns.
        const auto copy = copy_of_list(call, list_items(given[0]), {count, 0});
        if (!copy) return {};
        auto* const storage = static_cast<list_object*>(copy->target());
        return row.run(call, std::span<value>(storage->items() + copy->offset(), count));
    };
    f_.stack_[at + 1] = list;
    return run_native(row, run, {at, at + 1, 1, builtin_place::arguments::clear});
}

} // namespace heddle::lang
