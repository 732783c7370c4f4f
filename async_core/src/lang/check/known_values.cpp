#include "lang/check/known_values.hpp"

#include <heddle/lang/code.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::lang {

using ast::node_kind;

namespace {

/// Functions of the prelude whose value is a list; a test holds them to their examples.
constexpr std::array<std::string_view, 5> list_functions{"filter", "map", "map-settled",
                                                         "partition", "sort-by"};

constexpr std::size_t max_data_depth = 8;     ///< of (list (list …)) that is put together
constexpr std::size_t max_data_length = 1000; ///< elements of one such list

[[nodiscard]] std::optional<std::string_view> key_of(const value& key) {
    if (key.is(kind::string)) return string_bytes(key);
    if (key.is(kind::symbol)) return symbol_name(key);
    return std::nullopt;
}

} // namespace

const ast::node& known_values::source_of(const ast::node& expression) const {
    const ast::node& source = context_.facts.source_of(expression);
    const bool built = source.kind == node_kind::builtin_call;
    const bool constant = source.kind == node_kind::constant;
    const bool named = &source != &expression && (constant || built);
    if (!named || !context_.facts.is_conditional(now_)) return source;
    const bool none = constant && !source.constant.truthy();
    return none || context_.facts.is_tested(now_, expression) ? expression : source;
}

known_value known_values::of(const ast::node& expression) { return of(expression, 0); }

known_value known_values::of(const ast::node& expression, std::size_t depth) {
    const ast::node& source = source_of(expression);
    switch (source.kind) {
    case node_kind::constant:
        // An effect and what the host made are functions too.
        if (source.constant.is(kind::host)) return {};
        return {source.constant, {}, {}};
    case node_kind::make_lambda: return {{}, kind::closure, "a function"};
    case node_kind::builtin_call: return of_builtin(source, depth);
    case node_kind::join_scope:
        if (source.flag == 0 && source.constant.is(kind::string)) return {{}, kind::list, "a list"};
        return {};
    case node_kind::effect_call: {
        const std::string_view name = source.row->name;
        if (name == "sleep" || name == "print") return {{}, kind::nil, "nil"};
        return {};
    }
    case node_kind::spawn: return {{}, kind::host, "a future"};
    case node_kind::clause_call:
    case node_kind::call: return of_result(source);
    default: return {};
    }
}

/// Lists and maps that are written out are as good as constants, when their parts are.
known_value known_values::of_builtin(const ast::node& call, std::size_t depth) {
    const bool small = depth < max_data_depth && call.children.size() <= max_data_length;
    const bool list = call.row->name == "list";
    if (small && (list || call.row->name == "dict")) {
        // What is known of names in a conditional part depends on the part.
        const bool kept = depth == 0 && !context_.facts.is_conditional(now_);
        if (!kept) return list ? of_list(call, depth) : of_dict(call, depth);
        // A variable may be used often.
        const auto known = data_.find(&call);
        if (known != data_.end()) return known->second;
        return data_.emplace(&call, list ? of_list(call, depth) : of_dict(call, depth))
            .first->second;
    }
    return probe_.result_of(*call.row);
}

known_value known_values::of_list(const ast::node& call, std::size_t depth) {
    std::vector<value> items;
    for (const ast::node* each : call.children) {
        known_value item = of(*each, depth + 1);
        if (!item.constant) return {{}, kind::list, "a list"};
        items.push_back(*std::move(item.constant));
    }
    return {make_list(context_.realm.memory(), items), {}, {}};
}

/// (dict key value…): with keys that are known, samples of the map that have just these keys.
known_value known_values::of_dict(const ast::node& call, std::size_t depth) {
    known_value result{{}, kind::map, "a map"};
    heap& memory = context_.realm.memory();
    value known = value::empty_map();
    bool constant = true;
    std::vector<std::string> open;
    if (call.children.size() % 2 != 0) return result;
    for (std::size_t i = 0; i + 1 < call.children.size(); i += 2) {
        const known_value key = of(*call.children[i], depth + 1);
        const auto name = key.constant ? key_of(*key.constant) : std::nullopt;
        if (!name) return result;
        known_value item = of(*call.children[i + 1], depth + 1);
        if (item.constant) {
            known = map_put(memory, std::move(known), *name, *std::move(item.constant));
        } else {
            constant = false;
            open.emplace_back(*name);
        }
    }
    if (constant) return {std::move(known), {}, {}};
    result.samples = probe_.maps_with(known, open);
    return result;
}

known_value known_values::of_result(const ast::node& call) const {
    const ast::node& called = *call.children[0];
    const known_callee* known = context_.facts.task_of(called);
    if (known && !known->task->is_tool) return {{}, kind::map, "the result of a task"};
    if (!context_.facts.library_function_of(called)) return {};
    const std::string_view name = context_.realm.global_name(called.index);
    const bool list =
        std::find(list_functions.begin(), list_functions.end(), name) != list_functions.end();
    return list ? known_value{{}, kind::list, "a list"} : known_value{};
}

std::optional<builtin_probe::refusal> known_values::refused(const builtin& row,
                                                            std::span<ast::node* const> arguments,
                                                            std::vector<known_value>& given) {
    for (const ast::node* each : arguments) given.push_back(of(*each));
    return probe_.refuses(row, given);
}

std::vector<value> known_values::samples_of(const known_value& known) const {
    std::vector<value> values;
    for (const value* each : probe_.samples_of(known)) values.push_back(*each);
    return values;
}

} // namespace heddle::lang
