// Calls of tasks and tools whose inputs are a map, as models and subtask requests give them.
#pragma once

#include <heddle/host/effect.hpp>
#include <heddle/lang/heap.hpp>

namespace heddle::tasks {

/// A call of `callee` with the entries of `inputs`, a map, as its clauses. `span`: of the call of
/// the workflow that it is a part of.
[[nodiscard]] host::effect_call clause_call(host::session& session, const lang::value& callee,
                                            const lang::value& inputs, lang::scope_ref scope,
                                            source_span span, coro::call_context context);

/// Adds one more clause.
void add_clause(lang::heap& memory, lang::effect_request& request, std::string_view name,
                lang::value item);

} // namespace heddle::tasks
