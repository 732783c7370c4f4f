// What a check looks for. Each rule goes through the nodes and adds its problems.
#pragma once

#include "lang/check/program_facts.hpp"
#include "lang/compile/name_set.hpp"
#include "lang/text/line_index.hpp"

#include <heddle/lang/check.hpp>
#include <heddle/lang/realm.hpp>

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
    const line_index& lines; ///< of the text that is checked, which begins in line `first_line`
    std::uint32_t first_line;
    mutable std::size_t suggestions = 0;
    mutable std::vector<std::string> task_names;

    [[nodiscard]] std::uint32_t line_of(source_span span) const {
        const std::uint32_t line = lines.line_at(span.begin);
        return line != 0 ? first_line + line - 1 : realm.sources().locate(span).line;
    }
    void add(severity level, std::string_view code, source_span span, std::string message,
             std::string hint = {}) const {
        problems.push_back({level, code, std::move(message), std::move(hint), span});
    }
    /// As suggest_names, until many names were looked for: each is compared with all candidates.
    [[nodiscard]] std::string suggest(std::string_view name,
                                      const std::vector<std::string>& candidates) const {
        constexpr std::size_t max_suggestions = 100;
        return ++suggestions < max_suggestions ? suggest_names(name, candidates) : std::string();
    }
    /// Names of all tasks and tools, those of the host too.
    [[nodiscard]] const std::vector<std::string>& tasks_and_tools() const {
        if (!task_names.empty()) return task_names;
        realm.host().collect_names(task_names);
        for (const known_callee* each : facts.tasks()) task_names.push_back(each->name);
        return task_names;
    }
    /// For a name that nothing defines, and that is like no other.
    [[nodiscard]] std::string hint_to_define(const std::string& name) const {
        if (options.extern_option.empty()) return "define it, or import the file that does";
        return "define it, or if it comes from elsewhere say so with " + options.extern_option +
               " " + name;
    }
};

/// "'a', 'b'", and how many more there are: a hostile text has very many names, and problems with
/// them.
[[nodiscard]] std::string quoted_names(const std::vector<std::string>& names);

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
