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

result<value> carry_out(realm& realm, code_order& order, compile_watch& watch) {
    order.request.watch = &watch;
    if (order.expands_only)
        return realm.stages().expand_macros(realm, order.forms.front(), order.request);
    auto code = realm.stages().compile(realm, order.forms, order.request);
    if (!code) return std::move(code).error();
    const auto& captures = (*code)->captures;
    value created =
        make_closure(realm.memory(), **code, static_cast<std::uint32_t>(captures.size()),
                     order.scope->sandbox.as_value());
    for (std::size_t i = 0; i < captures.size(); ++i)
        closure_of(created)->captured()[i] = order.cells[captures[i].index];
    return created;
}

bool takes_long(realm& realm, const code_order& order) {
    const bool macros = realm.has_macros() && !order.request.limits.closed;
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
            realm.find_macro(symbol_name(items[0])))
            return true;
        for (const value& item : items) {
            if (item.is(kind::list)) work.push_back(&item);
        }
    }
    return false;
}

code_job::code_job(realm& realm, code_order order)
    : realm_(realm), order_(std::move(order)),
      work_([this] { result_.emplace(carry_out(realm_, order_, *this)); }),
      stack_(realm, stack_bytes) {}

code_job::~code_job() {
    const realm::compile_state outer = realm_.exchange_compile_state(compiling_);
    stack_.abandon();
    (void)realm_.exchange_compile_state(outer);
}

native_stack::progress code_job::resume() {
    left_ = work_of_a_turn;
    const realm::compile_state outer = realm_.exchange_compile_state(compiling_);
    native_stack::progress result = native_stack::progress::ended;
    try {
        result = stack_.resume(work_);
    } catch (...) {
        result_.emplace(error_of_exception("compiling"));
    }
    compiling_ = realm_.exchange_compile_state(outer);
    return result;
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
