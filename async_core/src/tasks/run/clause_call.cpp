#include "tasks/run/clause_call.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <utility>

namespace heddle::tasks {

host::effect_call clause_call(host::session& session, const lang::value& callee,
                              const lang::value& inputs, lang::scope_ref scope, source_span span,
                              coro::call_context context) {
    lang::heap& memory = session.memory();
    host::effect_call call{session, {}, std::move(scope), context};
    call.request.callee = callee;
    call.request.span = span;
    call.request.names = lang::value::empty_list();
    for (const lang::map_entry& entry : lang::map_entries(inputs))
        add_clause(memory, call.request, lang::string_bytes(entry.key), entry.item);
    return call;
}

void add_clause(lang::heap& memory, lang::effect_request& request, std::string_view name,
                lang::value item) {
    request.names = lang::list_push_back(memory, std::move(request.names), memory.symbol(name));
    request.arguments.push_back(std::move(item));
}

} // namespace heddle::tasks
