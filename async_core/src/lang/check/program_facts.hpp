// What the rules of a check look up in a resolved program.
#pragma once

#include "lang/compile/ast.hpp"

#include <heddle/lang/check.hpp>

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
};

/// Walks a program once. Iterative: chains of clauses nest deep.
class program_facts {
public:
    /// Tasks are checked on the way; their problems go to `problems`.
    program_facts(realm& world, const ast::node& program, const check_options& options,
                  std::vector<problem>& problems);

    /// Every node that can be reached, a parent before its parts.
    [[nodiscard]] const std::vector<const ast::node*>& nodes() const noexcept { return nodes_; }
    [[nodiscard]] bool is_read(const ast::variable& var) const { return read_.contains(&var); }
    /// The program gives the global a value, by a definition or by set!.
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

private:
    struct definition {
        known_callee what;
        unsigned count = 0; ///< of values it is given
        bool defined = false;
    };

    void collect(const ast::node& program);
    void note(const ast::node& n);
    void note_definition(definition& into, const ast::node& init, std::string_view name);
    void note_import(const ast::node& call);
    void finish();

    realm& world_;
    const check_options& options_;
    std::vector<problem>& problems_;
    std::vector<const ast::node*> nodes_;
    std::unordered_set<const ast::variable*> read_;
    std::unordered_map<std::uint32_t, definition> globals_;
    std::unordered_map<const ast::variable*, definition> variables_;
    std::unordered_map<const ast::lambda*, known_callee> lambdas_;
    std::unordered_map<std::string, std::uint32_t> tasks_by_name_;
    std::vector<std::unique_ptr<task_signature>> signatures_;
    std::set<std::string> imported_;
    std::set<std::string> locals_;
    bool open_names_ = false;
};

} // namespace heddle::lang
