// What a check looks for. Each rule goes through the nodes and adds its problems.
#pragma once

#include "lang/check/program_facts.hpp"
#include "lang/compile/name_set.hpp"

#include <heddle/lang/check.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

struct rule_context {
    lang::realm& realm;
    const program_facts& facts;
    const check_options& options;
    /// Names that forms define which are wrong themselves; empty when all forms are right.
    const name_set* lost_names;
    std::vector<problem>& problems;

    void add(severity level, std::string_view code, source_span span, std::string message,
             std::string hint = {}) const {
        problems.push_back({level, code, std::move(message), std::move(hint), span});
    }
    /// For a name that nothing defines, and that is like no other.
    [[nodiscard]] std::string hint_to_define(const std::string& name) const {
        if (options.extern_option.empty()) return "define it, or import the file that does";
        return "define it, or if it comes from elsewhere say so with " + options.extern_option +
               " " + name;
    }
};

/// Names that nothing defines, or only what runs later.
void check_names(const rule_context& context);
/// Numbers of arguments; inputs of tasks.
void check_calls(const rule_context& context);
/// Calls of tasks in the prompts of tasks, the tools they offer, and inputs that prompts do not
/// use.
void check_task_texts(const rule_context& context);
/// Constants and results that a builtin, a form or a setting refuses.
void check_types(const rule_context& context);
/// Arguments of forms and builtins that cannot be run for a check; calls of what is not a function.
void check_form_arguments(const rule_context& context);
/// Values of clauses of tasks and tools; arguments that are meant as clauses and are not.
void check_clause_values(const rule_context& context);
/// JSON that is read from the results of tasks that have none.
void check_results(const rule_context& context);
/// Definitions that replace each other, values that nobody uses, keys that a map is given twice.
void check_duplicates(const rule_context& context);
/// Clauses and branches that are never reached, keys that appear twice.
void check_reach(const rule_context& context);
/// What a sandbox refuses, and names that it allows in vain.
void check_sandboxes(const rule_context& context);
/// Bindings that nothing reads or that hide a builtin.
void check_bindings(const rule_context& context);

} // namespace heddle::lang
