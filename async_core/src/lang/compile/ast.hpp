// The resolved program, between data and code.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/value.hpp>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace heddle::lang {
class eval_scope;
}

namespace heddle::lang::ast {

struct node;
struct lambda;

/// A local variable. What the analysis learns decides where it lives: a register, or a cell when it
/// is captured and changes after the capture could have been made.
struct variable {
    std::string name;
    source_span place; ///< of the name where it is bound; unknown for names that no source has
    /// For a check: where the text calls the special form of that name, in the scope of the
    /// variable.
    source_span form_call;
    lambda* owner = nullptr;
    bool captured = false;
    bool reassigned = false;     ///< set!, bound twice, or bound in a loop of its scope
    bool captured_early = false; ///< captured before it was certainly bound
    bool conditional = false;    ///< read at a place where it may be unbound
    bool definite = false;       ///< certainly bound, at the present point of the analysis
    bool bound_once = false;
    std::uint32_t loop_depth = 0;
    lambda* self = nullptr;               ///< the lambda that is its only value
    std::vector<std::string> task_inputs; ///< of a defatom or deftool
    bool is_task = false;
    bool names_let = false;        ///< the name of a named let
    bool is_tool = false;          ///< with is_task: of a deftool
    bool hidden = false;           ///< the compiler's own: no symbol means it, whatever its name
    int slot = -1;                 ///< register, while code is made
    eval_scope* seen_in = nullptr; ///< evals see it: among these names
    std::size_t seen_at = 0;       ///< there
    /// Of a hidden variable that holds the environment of a scope (eval_scope): first the one that
    /// holds that of the scope around it, or null, then those that evals see.
    std::vector<variable*> environment;

    [[nodiscard]] bool in_cell() const noexcept {
        return captured && (reassigned || captured_early);
    }
};

/// A named let that became a loop.
struct loop_label {
    std::string name;
    std::vector<variable*> variables;
    lambda* owner = nullptr;
    bool escaped = false; ///< used as a value, or called where a jump is impossible
    std::size_t start = 0;
};

struct lambda {
    std::string name;
    std::string doc; ///< the string that its body begins with
    source_span span;
    lambda* parent = nullptr;
    std::vector<variable*> parameters; ///< required, optional, rest
    std::uint16_t required = 0;
    std::uint16_t optional = 0;
    bool has_rest = false;
    node* body = nullptr;
    variable* self = nullptr;    ///< the variable that names it, if any
    variable* futures = nullptr; ///< hidden: the join of what `spawn` starts in it, or null
    bool part_of_outer =
        false; ///< of a named let: what it spawns belongs to the function around it
};

enum class node_kind : std::uint8_t {
    constant,
    local,      ///< variable; children[0] is the fallback when it may be unbound
    global,     ///< index
    dynamic,    ///< flag: dynamic_name; constant: that in words
    bind_local, ///< variable, children[0]
    set_local,
    define_global, ///< index, children[0]
    update_global,
    branch_if, ///< condition, then, else
    sequence,
    all_of, ///< and
    any_of, ///< or
    scope,  ///< initial values of `variables`, then the body
    make_lambda,
    call,          ///< callee, arguments…
    builtin_call,  ///< row
    effect_call,   ///< row
    clause_call,   ///< callee, arguments…; constant: list of clause names
    either_call,   ///< a clause_call or the same form read by position, decided when run
    repeat,        ///< (loop n body)
    while_loop,    ///< condition, body
    named_loop,    ///< label; children: initial values…, body
    loop_again,    ///< label; children: new values
    protect,       ///< try: body, handlers, finally
    within,        ///< body, number or nothing; constant: the line in the trace of an error
    with_settings, ///< operand, body, perhaps what takes the place of a timeout; flag: scope_kind
    join_scope,    ///< variable, count, body; flag: policy; constant: label
    branch,        ///< join, slot, callee, arguments…; flag 1: without a permit
    spawn,         ///< join, callee
    with_permit,   ///< semaphore, body
    eval_code      ///< what to evaluate; `variables`: the environment, the sandbox around it, if
                   ///< any; constant: the eval_site
};

/// What a node was made from, where the checker has to know.
enum class origin : std::uint8_t {
    other,
    atom,        ///< a number, string or name that is an expression by itself
    data,        ///< what is quoted, and ()
    call,        ///< a call of a function, whose name or expression is at its head
    condition,   ///< if, when, unless
    clause,      ///< of cond, with another one behind it
    last_clause, ///< of cond
    case_scope,  ///< the whole of a case: the variable is its value, the body its clauses
    composed     ///< a list that a special form put together: the loop that a `do` becomes
};

/// Where the text of a node is. A rule is not certain of what a macro puts together: it may be
/// different, and right, in other calls of the macro.
enum class written : std::uint8_t {
    in_program, ///< in an argument of a macro, too
    in_macro,   ///< in what a macro returns unchanged: a quoted part of its template
    nowhere     ///< a macro put it together: its span is that of the call of the macro
};

struct catch_clause {
    variable* name = nullptr;
    node* wanted_kind = nullptr; ///< null: any error
    node* guard = nullptr;       ///< sees `name`; false: the clause does not take it
    node* body = nullptr;
};

struct node {
    node_kind kind = node_kind::constant;
    origin from = origin::other;
    written text = written::in_program;
    source_span span;
    value constant;
    variable* var = nullptr;
    std::uint32_t index = 0;
    std::uint8_t flag = 0;
    const builtin* row = nullptr;
    lambda* code = nullptr;
    loop_label* label = nullptr;
    std::vector<node*> children;
    std::vector<variable*> variables; ///< of a scope: bound to the first children, in order
    std::vector<variable*> cleared;   ///< of a scope: bound later, by its body
    std::vector<catch_clause> catches;
    node* cleanup = nullptr;
};

/// Owns everything of one compilation.
struct arena {
    std::deque<node> nodes;
    std::deque<variable> variables;
    std::deque<lambda> lambdas;
    std::deque<loop_label> labels;
};

} // namespace heddle::lang::ast
