// Which builtins need no count of their work.
#pragma once

#include <set>
#include <string_view>

namespace heddle::testing {

/// Those whose time does not depend on the size of their arguments. What a test or a bench tries on
/// large arguments is all others: a new builtin is in neither list, and both refuse to go on.
inline const std::set<std::string_view>& constant_builtins() {
    static const std::set<std::string_view> names{"quotient",   "remainder", "modulo",
                                                  "abs",        "floor",     "ceiling",
                                                  "round",      "truncate",  "sqrt",
                                                  "expt",       "exp",       "log",
                                                  "sin",        "cos",       "atan",
                                                  "number?",    "integer?",  "float?",
                                                  "real?",      "zero?",     "positive?",
                                                  "negative?",  "even?",     "odd?",
                                                  "exact",      "inexact",   "number->string",
                                                  "first",      "second",    "third",
                                                  "rest",       "last",      "nth",
                                                  "take",       "drop",      "slice",
                                                  "null?",      "nil?",      "empty?",
                                                  "list?",      "has-key?",  "map?",
                                                  "content",    "parsed",    "notes",
                                                  "ok?",        "not",       "type-of",
                                                  "boolean?",   "string?",   "symbol?",
                                                  "procedure?", "error",     "raise",
                                                  "gensym",     "semaphore", "symbol->string"};
    return names;
}

} // namespace heddle::testing
