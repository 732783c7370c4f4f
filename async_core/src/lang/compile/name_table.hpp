// What the names in scope mean, while a program is analysed.
#pragma once

#include "ast.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
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
        // Neither without the other, if there is no memory.
        if (order_.size() == order_.capacity()) order_.reserve(2 * order_.size() + 16);
        by_name_[name].push_back(binding);
        order_.push_back(name);
    }
    [[nodiscard]] std::size_t size() const noexcept { return order_.size(); }
    /// Takes back what was added after there were `size`.
    void shrink(std::size_t size) {
        for (; order_.size() > size; order_.pop_back()) by_name_[order_.back()].pop_back();
    }
    /// The innermost binding in `start` or a scope around it; null: there is none.
    [[nodiscard]] const name_binding* find(std::string_view name, const scope* start) const {
        if (!start) return nullptr;
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) return nullptr;
        const auto& bindings = found->second;
        for (auto each = bindings.rbegin(); each != bindings.rend(); ++each) {
            if (each->in->depth <= start->depth) return &*each;
        }
        return nullptr;
    }

private:
    std::unordered_map<std::string_view, std::vector<name_binding>> by_name_;
    std::vector<std::string_view> order_;
};

} // namespace heddle::lang
