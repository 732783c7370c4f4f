// What the names in scope mean, while a program is analysed.
#pragma once

#include "ast.hpp"
#include "lang/realm/eval_site.hpp"
#include "lang/value/chained_buckets.hpp"

#include <heddle/base/keyed_hash.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::lang {

/// A scope of local names inside a lambda.
struct scope {
    scope* outer = nullptr;
    ast::lambda* owner = nullptr;
    std::uint32_t depth = 1;  ///< number of scopes from the outermost to this one
    std::size_t bindings = 0; ///< in the table when it was opened
    std::uint32_t loop_depth = 0;
    std::uint32_t conditional = 0;
    std::vector<ast::variable*> variables;
    ast::loop_label* label = nullptr; ///< the name of a named loop
    ast::variable* extras = nullptr;  ///< holds what eval bound here beyond the variables
    scope* outer_extras = nullptr;    ///< the nearest scope around with extras
    bool sealed = false;              ///< around code given to eval: no variable can be added
    ast::variable* sandbox = nullptr; ///< of the body of a sandbox: holds that sandbox
    scope* outer_sandbox = nullptr;   ///< the nearest scope around that is one

    bool seen = false;                    ///< by an eval, with all scopes around it
    std::size_t seen_variables = 0;       ///< how many of them evals know
    std::shared_ptr<eval_scope> names;    ///< those that evals see here; null: there are none
    ast::variable* environment = nullptr; ///< hidden: holds the cells of these names
    scope* environment_at = nullptr;      ///< the nearest scope from this one on that has one

    /// The nearest scope from this one outwards that has extras, or null.
    [[nodiscard]] scope* nearest_extras() noexcept { return extras ? this : outer_extras; }
    /// The nearest scope from this one outwards that is the body of a sandbox, or null.
    [[nodiscard]] scope* nearest_sandbox() noexcept { return sandbox ? this : outer_sandbox; }
};

/// One meaning of a name: exactly one of the three is not null.
struct name_binding {
    scope* in = nullptr;
    ast::variable* variable = nullptr;
    ast::loop_label* label = nullptr; ///< the name of a named loop
    const value* macro = nullptr;
};

/// The bindings of all scopes that are open, by name: a look-up takes constant time, however many
/// scopes and names there are. Bindings are added to the innermost scope only.
class name_table {
public:
    /// `name` outlives the table.
    void add(std::string_view name, const name_binding& binding) {
        const std::size_t hash = hash_of(name);
        meanings* known = find(name, hash);
        if (!known) {
            known = &names_.emplace_back(meanings{name, {}, hash, nullptr});
            buckets_.insert(*known);
        }
        order_.push_back(known);
        try {
            known->bindings.push_back(binding);
        } catch (...) { // neither without the other
            order_.pop_back();
            throw;
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }
    /// Takes back what was added after there were `size`.
    void shrink(std::size_t size) {
        for (; order_.size() > size; order_.pop_back()) order_.back()->bindings.pop_back();
    }
    /// Forgets a name; false: there was none. Nothing else may follow.
    bool drop_one() {
        if (!order_.empty()) order_.pop_back();
        if (names_.empty()) return false;
        names_.pop_back();
        return true;
    }
    /// The innermost binding in `start` or a scope around it; null: there is none.
    [[nodiscard]] const name_binding* find(std::string_view name, const scope* start) const {
        return find_one(name, start, [](const name_binding&) { return true; });
    }
    /// The same of a variable or a loop: a macro of that name does not hide it.
    [[nodiscard]] const name_binding* find_value(std::string_view name, const scope* start) const {
        return find_one(name, start, [](const name_binding& each) { return !each.macro; });
    }

private:
    template <class Condition>
    [[nodiscard]] const name_binding* find_one(std::string_view name, const scope* start,
                                               const Condition& wanted) const {
        if (!start) return nullptr;
        const meanings* found = find(name, hash_of(name));
        if (!found) return nullptr;
        const auto& bindings = found->bindings;
        for (auto each = bindings.rbegin(); each != bindings.rend(); ++each) {
            if (each->in->depth <= start->depth && wanted(*each)) return &*each;
        }
        return nullptr;
    }

    struct meanings {
        std::string_view name;
        std::vector<name_binding> bindings; ///< innermost last
        std::size_t hash;
        meanings* chain;
    };

    [[nodiscard]] static std::size_t hash_of(std::string_view name) noexcept {
        return name_hash()(name);
    }
    [[nodiscard]] meanings* find(std::string_view name, std::size_t hash) const {
        return buckets_.find(hash, [name](const meanings& each) { return each.name == name; });
    }

    std::deque<meanings> names_;
    chained_buckets<meanings> buckets_;
    std::deque<meanings*> order_;
};

} // namespace heddle::lang
