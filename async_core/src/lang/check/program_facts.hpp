// What the rules of a check look up in a resolved program.
#pragma once

#include "lang/check/library_facts.hpp"
#include "lang/compile/ast.hpp"

#include <heddle/base/keyed_hash.hpp>
#include <heddle/lang/check.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace heddle::lang {

/// A global or a local that has one value for good.
struct known_callee {
    std::string name;
    const ast::lambda* code = nullptr;    ///< a function of the program, or
    const task_signature* task = nullptr; ///< a task that it defines
    const value* definition = nullptr;    ///< (defatom …) of a task of the program
};

/// Walks a program once. Iterative: chains of clauses nest deep.
class program_facts {
public:
    /// Tasks are checked on the way; their problems go to `problems`.
    program_facts(realm& realm, const ast::node& program, const check_options& options,
                  std::vector<problem>& problems);

    /// Every node that can be reached, a parent before its parts.
    [[nodiscard]] const std::vector<const ast::node*>& nodes() const noexcept { return nodes_; }
    /// The number of the first node behind the one of that number that is not a part of it: all
    /// between them are.
    [[nodiscard]] std::size_t end_of(std::size_t node) const { return ends_[node]; }
    /// The node of that number may raise an error that the program catches.
    [[nodiscard]] bool is_guarded(std::size_t node) const { return guarded_[node]; }
    /// The node of that number is in a function, or in a part of a form that may not be evaluated.
    [[nodiscard]] bool is_conditional(std::size_t node) const {
        return conditions_of_[node] != no_condition;
    }
    /// The number of the `finally` around the node of that number; 0: there is none.
    [[nodiscard]] std::size_t cleanup_around(std::size_t node) const { return cleanups_[node]; }
    [[nodiscard]] bool is_parameter(const ast::variable& var) const {
        return parameters_.contains(&var);
    }
    /// How many definitions of a task or tool there are of that name.
    [[nodiscard]] std::size_t count_of_definitions(std::string_view name) const {
        const auto found = definitions_of_.find(std::string(name));
        return found == definitions_of_.end() ? 0 : found->second;
    }
    /// Whether the node of that number is evaluated only after a test of a name that `expression`
    /// takes its value from. True as well when that takes too long to find out.
    [[nodiscard]] bool is_tested(std::size_t node, const ast::node& expression) const;
    /// Code given to eval may read what it sees.
    [[nodiscard]] bool is_read(const ast::variable& var) const {
        return var.seen_in || read_.contains(&var);
    }
    /// The program sets the global, by a definition or by set!.
    [[nodiscard]] bool changes_global(std::uint32_t index) const {
        return globals_.contains(index);
    }
    [[nodiscard]] bool defines_global(std::uint32_t index) const {
        const auto found = globals_.find(index);
        return found != globals_.end() && found->second.defined;
    }
    /// Names may come from where a check does not look: an import of a file, or eval.
    [[nodiscard]] bool has_open_names() const noexcept { return open_names_; }
    /// Defined by a library that the program imports.
    [[nodiscard]] bool is_imported(std::string_view name) const {
        return imported_.contains(std::string(name));
    }
    [[nodiscard]] const std::set<std::string>& imported() const noexcept { return imported_; }
    /// Names of all variables, for suggestions.
    [[nodiscard]] const std::set<std::string>& local_names() const noexcept { return locals_; }
    /// The function or task of the program that a call reaches; null when that is not certain.
    [[nodiscard]] const known_callee* callee_of(const ast::node& called) const;
    /// Where the value of an expression comes from: the only value of a variable in place of the
    /// variable.
    /// `through`: gets the variables on the way.
    [[nodiscard]] const ast::node& source_of(
        const ast::node& expression, std::vector<const ast::node*>* through = nullptr) const;
    /// Each definition of a task or tool, in the order of the text.
    [[nodiscard]] const std::vector<const known_callee*>& tasks() const noexcept { return tasks_; }
    /// A task or tool that the program defines, once or often.
    [[nodiscard]] bool defines_task(std::string_view name) const {
        return task_names_.contains(std::string(name));
    }
    /// The only task of that name; null when there is none or several.
    [[nodiscard]] const known_callee* task_named(std::string_view name) const;
    /// Tasks that are handed on as values: what calls them decides which inputs they have.
    [[nodiscard]] bool is_handed_on(std::string_view name) const {
        return handed_on_.contains(std::string(name));
    }
    /// The task or tool that a call reaches, of the program or of the host; its name and signature.
    /// Null when that is not certain.
    [[nodiscard]] const known_callee* task_of(const ast::node& called) const;
    /// As task_named, of the host. Null also when the program defines the name.
    [[nodiscard]] const known_callee* host_task_named(std::string_view name) const;
    /// Null: no function of a library that the program sees has that name.
    [[nodiscard]] const library_function* library_function_of(const ast::node& called) const;

private:
    struct definition {
        known_callee what;
        const ast::node* init = nullptr;
        unsigned count = 0; ///< of values it is given
        bool defined = false;
    };

    /// A test that comes before a node, or (null) a function or a clause of catch around it.
    struct condition {
        const ast::node* test;
        std::uint32_t outer; ///< the one before, or no_condition
    };
    static constexpr std::uint32_t no_condition = UINT32_MAX;

    void collect(const ast::node& program);
    [[nodiscard]] std::vector<const ast::node*> names_behind(const ast::node& expression) const;
    [[nodiscard]] std::uint32_t condition_of_part(const ast::node& whole, std::size_t part,
                                                  std::uint32_t outer);
    void note(const ast::node& n);
    void note_definition(definition& into, const ast::node& init, std::string_view name);
    void note_eval(const ast::node& code);
    [[nodiscard]] bool may_eval_change(std::uint32_t index, const definition& found) const;
    void note_import(const ast::node& call);
    void note_handed_on(const ast::node& n);
    void finish();
    const known_callee* host_task_of(const host_object& callable, std::string_view name) const;

    realm& realm_;
    const check_options& options_;
    std::vector<problem>& problems_;
    std::vector<const ast::node*> nodes_;
    std::vector<std::size_t> ends_; ///< of each node
    std::vector<bool> guarded_;
    std::vector<std::uint32_t> conditions_of_; ///< of each node the nearest
    std::vector<condition> conditions_;
    std::vector<std::size_t> cleanups_; ///< of each node
    std::unordered_set<const ast::variable*> parameters_;
    std::unordered_map<std::string, std::size_t, name_hash> definitions_of_; ///< tasks, by name
    std::set<std::string> libraries_read_;
    std::vector<const known_callee*> tasks_;
    std::deque<known_callee> every_task_;
    std::unordered_map<const ast::node*, const known_callee*> definitions_; ///< of tasks
    std::set<std::string> task_names_;
    std::set<std::string> handed_on_;
    mutable library_facts libraries_;
    mutable std::map<std::string, known_callee, std::less<>> host_tasks_;
    mutable std::deque<task_signature> host_signatures_;
    std::unordered_set<const ast::variable*> read_;
    std::unordered_map<std::uint32_t, definition> globals_;
    std::unordered_map<const ast::variable*, definition> variables_;
    std::unordered_map<const ast::lambda*, known_callee> lambdas_;
    std::unordered_map<std::string, std::uint32_t, name_hash> tasks_by_name_;
    std::vector<std::unique_ptr<task_signature>> signatures_;
    std::set<std::string> imported_;
    std::set<std::string> locals_;
    bool open_names_ = false;
    bool runs_unknown_code_ = false; ///< outside of sandboxes, by eval or an import
    std::set<std::string> names_in_eval_;
    std::size_t eval_mentions_ = 0; ///< of the builtin, also as a value
    std::size_t eval_calls_ = 0;    ///< of these, at the head of a call
};

} // namespace heddle::lang
