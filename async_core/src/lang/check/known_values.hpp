// What is known of the values of a program from its text.
#pragma once

#include "lang/check/builtin_probe.hpp"
#include "lang/check/rules.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>

namespace heddle::lang {

/// Threads: one at a time. `context` outlives it.
class known_values {
public:
    explicit known_values(const rule_context& context)
        : context_(context), probe_(context.realm.memory()) {}

    /// The number of the node for which values are asked.
    void look_from(std::size_t node) noexcept { now_ = node; }
    /// Where the value of an expression comes from, unless it is a constant, or what a builtin
    /// makes of some, that has a name because the program tests it: a function may be called, and a
    /// branch taken, for other values only.
    [[nodiscard]] const ast::node& source_of(const ast::node& expression) const;
    /// The value of a variable that is bound once for good is known as its value is.
    [[nodiscard]] known_value of(const ast::node& expression);
    /// As builtin_probe::refuses.
    [[nodiscard]] std::optional<builtin_probe::refusal> refused(
        const builtin& row, std::span<ast::node* const> arguments, std::vector<known_value>& given);
    /// Values of that kind, to try where only the kind is known.
    [[nodiscard]] std::vector<value> samples_of(const known_value& known) const;

private:
    [[nodiscard]] known_value of(const ast::node& expression, std::size_t depth);
    [[nodiscard]] known_value of_builtin(const ast::node& call, std::size_t depth);
    [[nodiscard]] known_value of_list(const ast::node& call, std::size_t depth);
    [[nodiscard]] known_value of_dict(const ast::node& call, std::size_t depth);
    [[nodiscard]] known_value of_result(const ast::node& call) const;

    const rule_context& context_;
    builtin_probe probe_;
    std::size_t now_ = 0;
    std::unordered_map<const ast::node*, known_value>
        data_; ///< lists and maps that were put together
};

} // namespace heddle::lang
