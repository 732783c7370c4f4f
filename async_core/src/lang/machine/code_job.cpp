#include "code_job.hpp"

#include "lang/realm/code_service.hpp"
#include "lang/value/seen_lists.hpp"

#include <heddle/base/exceptions.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>

#include <utility>

namespace heddle::lang {

namespace {

constexpr std::size_t stack_bytes = 4 * 1024 * 1024; ///< deeper code gets a stack of its own
constexpr std::size_t much_code = 2000;              ///< parts: about a millisecond

} // namespace

result<value> carry_out(realm& world, code_order& order, compile_watch& watch) {
    order.request.watch = &watch;
    if (order.expands_only)
        return world.stages().expand_macros(world, order.forms.front(), order.request);
    auto code = world.stages().compile(world, order.forms, order.request);
    if (!code) return std::move(code).error();
    const auto& captures = (*code)->captures;
    value made = make_closure(world.memory(), **code, static_cast<std::uint32_t>(captures.size()),
                              order.scope->sandbox.as_value());
    for (std::size_t i = 0; i < captures.size(); ++i)
        closure_of(made)->captured()[i] = order.cells[captures[i].index];
    return made;
}

bool takes_long(realm& world, const code_order& order) {
    const bool macros = world.has_macros() && !order.request.limits.closed;
    seen_lists seen;
    std::vector<const value*> work;
    for (const datum& each : order.forms) work.push_back(&each.content);
    for (std::size_t parts = 0; !work.empty();) {
        const value& next = *work.back();
        work.pop_back();
        if (!next.is(kind::list) || !seen.first_time(next)) continue;
        const auto items = list_items(next);
        parts += items.size() + 1;
        if (parts > much_code) return true;
        if (macros && !items.empty() && items[0].is(kind::symbol) &&
            world.find_macro(symbol_name(items[0])))
            return true;
        for (const value& item : items) {
            if (item.is(kind::list)) work.push_back(&item);
        }
    }
    return false;
}

code_job::code_job(realm& world, code_order order)
    : world_(world), order_(std::move(order)),
      work_([this] { result_.emplace(carry_out(world_, order_, *this)); }),
      stack_(world, stack_bytes) {}

code_job::~code_job() {
    const realm::compile_state outer = world_.exchange_compile_state(compiling_);
    stack_.abandon();
    (void)world_.exchange_compile_state(outer);
}

native_stack::progress code_job::resume() {
    left_ = work_of_a_turn;
    const realm::compile_state outer = world_.exchange_compile_state(compiling_);
    native_stack::progress made = native_stack::progress::ended;
    try {
        made = stack_.resume(work_);
    } catch (...) {
        result_.emplace(error_of_exception("compiling"));
    }
    compiling_ = world_.exchange_compile_state(outer);
    return made;
}

/// On the worker's stack: its turn may be over.
std::optional<error> code_job::spend(std::uint64_t work) {
    spent_ += work;
    if (left_ > work) {
        left_ -= work;
        return std::nullopt;
    }
    if (stack_.give_way()) return std::nullopt;
    return error::cancelled(cancel_reason::sibling);
}

} // namespace heddle::lang
