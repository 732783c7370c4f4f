// Calls, closures, protected regions and joins.
#include "generator.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace heddle::lang {

using ast::node_kind;

namespace {

constexpr unsigned max_nested_cleanups = 8; // 256 copies of what is inside of all

} // namespace

std::optional<int> generator::small_integer(const node& n) {
    if (n.kind != node_kind::constant || !n.constant.is_integer()) return std::nullopt;
    const std::int64_t i = n.constant.as_integer();
    if (i < std::numeric_limits<std::int16_t>::min() ||
        i > std::numeric_limits<std::int16_t>::max())
        return std::nullopt;
    return static_cast<int>(i);
}

/// Registers of the first two children. The left one is copied when the right one could change it.
std::pair<int, int> generator::two_operands(const node& n) {
    const node& left = *n.children[0];
    const node& right = *n.children[1];
    const bool harmless =
        right.kind == node_kind::constant || right.kind == node_kind::local ||
        (right.kind == node_kind::builtin_call &&
         std::all_of(right.children.begin(), right.children.end(), [](const node* c) {
             return c->kind == node_kind::constant || c->kind == node_kind::local;
         }));
    const bool changes = left.kind == node_kind::local && left.var->reassigned && !harmless;
    const int l = changes ? fresh(left) : anywhere(left);
    const int r = anywhere(right);
    return {l, r};
}

/// Children from `from` on, in consecutive new registers; the first one's number.
int generator::arguments(const node& n, std::size_t from) {
    if (n.children.size() == from) return 0;
    const int first = next_;
    const bool is_long = !is_short(n);
    for (std::size_t i = from; i < n.children.size(); ++i) {
        if (is_long) pay(n.span);
        fresh(*n.children[i]);
    }
    return first;
}

void generator::closure(const node& n, int dest) {
    if (dest == nowhere) return;
    generator inner(realm_, *n.code, this, work_, hidden_);
    auto outcome = inner.run();
    if (!outcome) {
        if (!failure_) failure_ = std::move(outcome).error();
        return;
    }
    out_->functions.push_back(outcome->get());
    function_retain(outcome->get());
    emit(instruction::ad(op::closure, static_cast<unsigned>(dest),
                         static_cast<std::int32_t>(out_->functions.size() - 1)),
         n.span);
}

/// An argument of a call, which moves it on: its register holds nothing afterwards.
void generator::argument(const node& n) {
    constexpr std::size_t longest = 64; // nested calls look at their code again and again
    const std::size_t begin = here();
    const int r = fresh(n);
    const std::size_t end = here();
    if (end - begin > longest) return;
    moved_on_.resize(std::max(moved_on_.size(), end));
    for (std::size_t i = begin; i < end; ++i) {
        if (out_->code[i].a == r) moved_on_[i] = true;
    }
}

void generator::call(const node& n, int dest, bool is_tail) {
    // A call of the prelude keeps its frame, so that errors can name the user's place. The prelude
    // returns to its callers; nothing that could go on for ever passes through it in tail position.
    if (is_tail && n.children[0]->kind == node_kind::global && !out_->from_prelude &&
        realm_.is_prelude_global(n.children[0]->index)) {
        mark give_back(*this);
        const int r = fresh(n);
        emit(instruction::abc(op::return_value, static_cast<unsigned>(r)), n.span);
        return;
    }
    mark give_back(*this);
    // The callee's register gets the result; `dest` serves when it is the newest one.
    const int a = !is_tail && dest != nowhere && dest == next_ - 1 ? dest : allocate();
    const node& callee = *n.children[0];
    const auto count = static_cast<unsigned>(n.children.size() - 1);
    const bool global = callee.kind == node_kind::global;
    if (!global) to(callee, a);
    for (std::size_t i = 1; i < n.children.size(); ++i) {
        pay(n.span);
        argument(*n.children[i]);
    }
    const auto ua = static_cast<unsigned>(a);
    if (global) {
        emit_wide(instruction::abc(is_tail ? op::tail_call_global : op::call_global, ua, count),
                  static_cast<std::int32_t>(callee.index), n.span);
    } else {
        emit(instruction::abc(is_tail ? op::tail_call : op::call, ua, count), n.span);
    }
    if (is_tail)
        emit(instruction::abc(op::return_value, ua), n.span); // for callees without a frame
    else if (dest != nowhere && dest != a)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), ua), n.span);
}

bool generator::special_builtin(const node& n, int dest) {
    struct row {
        std::string_view name;
        op code;
        std::uint8_t operands;
        op immediate; // jump: none
    };
    static constexpr row table[] = {
        {"+", op::add, 2, op::add_i},         {"-", op::sub, 2, op::sub_i},
        {"*", op::mul, 2, op::mul_i},         {"not", op::logic_not, 1, op::jump},
        {"null?", op::is_empty, 1, op::jump}, {"nil?", op::is_empty, 1, op::jump},
        {"cons", op::cons, 2, op::jump},      {"first", op::first, 1, op::jump},
        {"rest", op::rest, 1, op::jump},      {"length", op::length, 1, op::jump},
        {"nth", op::nth, 2, op::jump}};
    const auto found = std::find_if(std::begin(table), std::end(table), [&](const row& r) {
        return r.name == n.row->name && r.operands == n.children.size();
    });
    if (found == std::end(table)) return false;
    mark give_back(*this);
    const auto d = static_cast<unsigned>(dest == nowhere ? allocate() : dest);
    if (found->operands == 1) {
        emit(instruction::abc(found->code, d, static_cast<unsigned>(anywhere(*n.children[0]))),
             n.span);
        return true;
    }
    if (found->immediate != op::jump) {
        if (const auto small = small_integer(*n.children[1])) {
            const int left = anywhere(*n.children[0]);
            emit(instruction::abc(found->immediate, d, static_cast<unsigned>(left),
                                  static_cast<std::uint16_t>(*small)),
                 n.span);
            return true;
        }
    }
    const auto [left, right] = two_operands(n);
    emit(
        instruction::abc(found->code, d, static_cast<unsigned>(left), static_cast<unsigned>(right)),
        n.span);
    return true;
}

void generator::builtin_call(const node& n, int dest) {
    if (special_builtin(n, dest)) return;
    const std::string_view name = n.row->name;
    if (n.children.size() > 2 && (name == "+" || name == "*" || name == "-")) {
        // Left to right in steps of two.
        mark give_back(*this);
        const bool is_long = !is_short(n);
        const int sum = allocate();
        node step = n;
        step.children = {n.children[0], n.children[1]};
        special_builtin(step, sum);
        for (std::size_t i = 2; i < n.children.size(); ++i) {
            if (is_long) pay(n.span);
            mark operand(*this);
            const int next = anywhere(*n.children[i]);
            const op code = name == "+" ? op::add : name == "*" ? op::mul : op::sub;
            emit(instruction::abc(code, static_cast<unsigned>(sum), static_cast<unsigned>(sum),
                                  static_cast<unsigned>(next)),
                 n.span);
        }
        if (dest != nowhere)
            emit(
                instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(sum)),
                n.span);
        return;
    }
    mark give_back(*this);
    const auto d = static_cast<unsigned>(dest == nowhere ? allocate() : dest);
    const auto first = static_cast<unsigned>(arguments(n, 0));
    const auto count = static_cast<unsigned>(n.children.size());
    if (name == "list") {
        emit(instruction::abc(op::list, d, first, count), n.span);
        return;
    }
    // What a variable holds is not to stay in the arguments: a later call could not change it in
    // place, as in (put m k (+ 1 (get m k 0))).
    const bool reads_variables =
        std::any_of(n.children.begin(), n.children.end(), [](const node* each) {
            return each->kind == node_kind::local || each->kind == node_kind::global;
        });
    emit_wide(instruction::abc(op::call_builtin, d, first, count, reads_variables ? 1 : 0),
              constant_index(value::of_builtin(*n.row)), n.span);
}

void generator::effect_call(const node& n, int dest) {
    mark give_back(*this);
    const auto d = static_cast<unsigned>(dest == nowhere ? allocate() : dest);
    const auto first = static_cast<unsigned>(arguments(n, 0));
    emit_wide(instruction::abc(op::call_effect, d, first, static_cast<unsigned>(n.children.size())),
              constant_index(value::of_builtin(*n.row)), n.span);
}

void generator::clause_call(const node& n, int dest) {
    mark give_back(*this);
    const int a = fresh(*n.children[0]);
    for (std::size_t i = 1; i < n.children.size(); ++i) fresh(*n.children[i]);
    const auto ua = static_cast<unsigned>(a);
    emit_wide(instruction::abc(op::call_clauses, ua, static_cast<unsigned>(n.children.size() - 1)),
              constant_index(n.constant), n.span);
    if (dest != nowhere && dest != a)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), ua), n.span);
}

void generator::either_call(const node& n, int dest, bool is_tail) {
    mark give_back(*this);
    const node& clauses = *n.children[0];
    std::size_t otherwise = 0;
    {
        mark probe(*this);
        const int callee = fresh(*clauses.children[0]);
        otherwise =
            emit_wide(instruction::abc(op::jump_unless_clauses, static_cast<unsigned>(callee),
                                       static_cast<unsigned>(constant_index(clauses.constant))),
                      0, n.span);
    }
    const skippable either(*this);
    if (is_tail) {
        tail(clauses);
        patch(otherwise, here());
        tail(*n.children[1]);
        return;
    }
    to(clauses, dest);
    const std::size_t end = emit(instruction::ad(op::jump, 0, 0), n.span);
    patch(otherwise, here());
    to(*n.children[1], dest);
    patch(end, here());
}

void generator::protect(const node& n, int dest) {
    mark give_back(*this);
    const int result = dest == nowhere ? nowhere : allocate();
    const int caught = allocate();
    const int pending = allocate();
    const std::size_t outer_begin = emit(instruction::abc(op::nop, 0), n.span);
    const std::size_t begin = outer_begin;
    const skippable cut_short(*this);
    to(*n.children[0], result);
    const std::size_t end = here();
    std::vector<std::size_t> done;
    done.push_back(emit(instruction::ad(op::jump, 0, 0), n.span));
    if (!n.catches.empty()) {
        out_->handlers.push_back(
            {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
             static_cast<std::uint32_t>(here()), static_cast<std::uint16_t>(caught), false});
        for (const ast::catch_clause& clause : n.catches) {
            mark in_clause(*this);
            std::vector<std::size_t> next;
            if (clause.wanted_kind) {
                const int wanted = fresh(*clause.wanted_kind);
                emit(instruction::abc(op::catch_matches, static_cast<unsigned>(wanted),
                                      static_cast<unsigned>(caught), static_cast<unsigned>(wanted)),
                     n.span);
                next.push_back(emit(
                    instruction::ad(op::jump_false, static_cast<unsigned>(wanted), 0), n.span));
            }
            clause.name->slot = allocate();
            const auto slot = static_cast<unsigned>(clause.name->slot);
            emit(instruction::abc(op::catch_value, slot, static_cast<unsigned>(caught)), n.span);
            if (clause.name->in_cell()) emit(instruction::abc(op::cell_make, slot), n.span);
            if (clause.guard) jump_when(*clause.guard, false, next);
            to(*clause.body, result);
            done.push_back(emit(instruction::ad(op::jump, 0, 0), n.span));
            patch(next, here());
        }
        emit(instruction::abc(op::rethrow, static_cast<unsigned>(caught)),
             n.span); // no clause took it
    }
    const std::size_t outer_end = here();
    patch(done, here());
    if (n.cleanup) {
        if (++cleanups_ > max_nested_cleanups && !failure_) {
            failure_ =
                error(errc::limit, "more than " + std::to_string(max_nested_cleanups) +
                                       " 'finally' are nested inside of each other's cleanup")
                    .with_hint("put the inner ones into a function of their own")
                    .with_span(n.span);
        }
        // The normal way out. No safe point comes between the body and what it does.
        const unsigned unpaid = std::exchange(unpaid_, 0);
        to(*n.cleanup, nowhere);
        unpaid_ += unpaid;
        const std::size_t past = emit(instruction::ad(op::jump, 0, 0), n.span);
        out_->handlers.push_back(
            {static_cast<std::uint32_t>(outer_begin), static_cast<std::uint32_t>(outer_end),
             static_cast<std::uint32_t>(here()), static_cast<std::uint16_t>(pending), true});
        to(*n.cleanup, nowhere);
        emit(instruction::abc(op::rethrow, static_cast<unsigned>(pending), 0, 0, 1), n.span);
        patch(past, here());
        --cleanups_;
    }
    if (result != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(result)),
             n.span);
}

/// Errors in [begin, end) get a line in their trace. Costs nothing unless one is raised.
void generator::label_errors(std::size_t begin, std::size_t end, const value& label, int number,
                             unsigned flag, source_span span) {
    mark give_back(*this);
    const int caught = allocate();
    const std::size_t past = emit(instruction::ad(op::jump, 0, 0), span);
    out_->handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                              static_cast<std::uint32_t>(here()),
                              static_cast<std::uint16_t>(caught), false});
    emit(instruction::abc(op::rethrow_within, static_cast<unsigned>(caught),
                          static_cast<unsigned>(number),
                          static_cast<unsigned>(constant_index(label)), flag),
         span);
    patch(past, here());
}

void generator::within(const node& n, int dest) {
    mark give_back(*this);
    const bool numbered = n.children.size() > 1;
    const int number = numbered ? anywhere(*n.children[1]) : allocate();
    const int result = dest == nowhere ? nowhere : allocate();
    const std::size_t begin = emit(instruction::abc(op::nop, 0), n.span);
    to(*n.children[0], result);
    label_errors(begin, here(), n.constant, number, numbered ? 0 : 2, n.span);
    if (result != nowhere) {
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(result)),
             n.span);
    }
}

void generator::with_settings(const node& n, int dest) {
    mark give_back(*this);
    const int result = dest == nowhere ? nowhere : allocate();
    const int saved = allocate();
    const int pending = allocate();
    {
        mark map(*this);
        const int added = fresh(*n.children[0]);
        emit(instruction::abc(op::settings_push, static_cast<unsigned>(saved),
                              static_cast<unsigned>(added), 0, n.flag),
             n.span);
    }
    const std::size_t begin = emit(instruction::abc(op::nop, 0), n.span);
    const skippable cut_short(*this);
    to(*n.children[1], result);
    emit(instruction::abc(op::settings_pop, static_cast<unsigned>(saved)), n.span);
    const std::size_t end = here(); // leaving a sandbox may fail
    const std::size_t past = emit(instruction::ad(op::jump, 0, 0), n.span);
    out_->handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                              static_cast<std::uint32_t>(here()),
                              static_cast<std::uint16_t>(pending), true});
    const int timed_out = allocate();
    emit(instruction::abc(op::settings_leave, static_cast<unsigned>(saved),
                          static_cast<unsigned>(pending), static_cast<unsigned>(timed_out)),
         n.span);
    std::vector<std::size_t> done{past};
    if (n.children.size() > 2) {
        const std::size_t other =
            emit(instruction::ad(op::jump_false, static_cast<unsigned>(timed_out), 0), n.span);
        to(*n.children[2], result);
        done.push_back(emit(instruction::ad(op::jump, 0, 0), n.span));
        patch(other, here());
    }
    emit(instruction::abc(op::rethrow, static_cast<unsigned>(pending)), n.span);
    patch(done, here());
    if (result != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(result)),
             n.span);
}

void generator::join_scope(const node& n, int dest) {
    mark give_back(*this);
    const int result = allocate();
    const int group = fresh(*n.children[0]); // the count, then the join
    n.variables[0]->slot = group;
    const int pending = allocate();
    emit(
        instruction::abc(op::join_begin, static_cast<unsigned>(group), static_cast<unsigned>(group),
                         static_cast<unsigned>(constant_index(n.constant)), n.flag),
        n.span);
    for (ast::variable* var : n.cleared) var->slot = allocate();
    const std::size_t begin = emit(instruction::abc(op::nop, 0), n.span);
    to(*n.children[1], nowhere);
    emit(
        instruction::abc(op::join_end, static_cast<unsigned>(result), static_cast<unsigned>(group)),
        n.span);
    const std::size_t end = here();
    const std::size_t past = emit(instruction::ad(op::jump, 0, 0), n.span);
    out_->handlers.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                              static_cast<std::uint32_t>(here()),
                              static_cast<std::uint16_t>(pending), true});
    emit(instruction::abc(op::join_abort, static_cast<unsigned>(group)), n.span);
    emit(instruction::abc(op::rethrow, static_cast<unsigned>(pending), 0, 0, 1), n.span);
    patch(past, here());
    if (dest != nowhere)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), static_cast<unsigned>(result)),
             n.span);
}

void generator::branch(const node& n, int dest) {
    mark give_back(*this);
    const auto join = static_cast<unsigned>(anywhere(*n.children[0]));
    const auto slot = static_cast<unsigned>(fresh(*n.children[1]));
    const auto callee = static_cast<unsigned>(fresh(*n.children[2]));
    for (std::size_t i = 3; i < n.children.size(); ++i) fresh(*n.children[i]);
    emit(instruction::abc(op::branch_call, callee, static_cast<unsigned>(n.children.size() - 3), 0,
                          n.flag),
         n.span);
    emit(instruction::abc(op::jump, slot, join), n.span); // operands of the branch
    emit(instruction::abc(op::branch_done, callee, join, slot), n.span);
    if (dest != nowhere)
        emit(instruction::ad(op::load_const, static_cast<unsigned>(dest), constant_index(value())),
             n.span);
}

/// The code becomes a function without parameters over the cells of what it sees, and is called.
/// The environments around it hold these.
void generator::eval_code(const node& n, int dest, bool is_tail) {
    mark give_back(*this);
    const int a = fresh(*n.children[0]);
    const auto ua = static_cast<unsigned>(a);
    for (const ast::variable* var : n.variables) {
        const auto r = static_cast<unsigned>(allocate());
        if (var->owner == &source_) {
            emit(instruction::abc(op::move, r, static_cast<unsigned>(var->slot)), n.span);
        } else {
            emit(instruction::abc(op::up_get, r, capture_index(*var)), n.span);
        }
    }
    emit_wide(instruction::abc(op::eval_code, ua, static_cast<unsigned>(n.variables.size())),
              constant_index(n.constant), n.span);
    if (is_tail) {
        emit(instruction::abc(op::tail_call, ua, 0), n.span);
        emit(instruction::abc(op::return_value, ua), n.span);
        return;
    }
    emit(instruction::abc(op::call, ua, 0), n.span);
    if (dest != nowhere && dest != a)
        emit(instruction::abc(op::move, static_cast<unsigned>(dest), ua), n.span);
}

} // namespace heddle::lang
