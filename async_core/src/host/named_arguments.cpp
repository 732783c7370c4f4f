#include <heddle/host/named_arguments.hpp>

#include <heddle/lang/code.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>

#include <algorithm>
#include <optional>

namespace heddle::host {

using lang::value;

bound_arguments bind_by_name(const value& callee, const named_inputs& inputs) {
    const lang::function& code = *lang::closure_of(callee)->code;
    const std::vector<std::string>& names = code.parameter_names;
    bound_arguments bound;
    std::vector<std::optional<value>> slots(names.size());
    for (const auto& [name, given] : inputs) {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) bound.unknown.push_back(name);
        else slots[static_cast<std::size_t>(at - names.begin())] = given;
    }
    for (std::size_t i = 0; i < code.required && i < slots.size(); ++i) {
        if (!slots[i]) bound.missing.push_back(names[i]);
    }
    if (!bound.ok()) return bound;

    const std::size_t positional = std::size_t{code.required} + code.optional;
    std::size_t last = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i]) last = i + 1;
    }
    for (std::size_t i = 0; i < std::min(positional, last); ++i) {
        bound.arguments.push_back(slots[i] ? *slots[i] : value());
    }
    if (code.has_rest && slots.size() > positional && slots[positional]) {
        const value& rest = *slots[positional];
        if (!rest.is(lang::kind::list)) {
            bound.not_a_list = names[positional];
            return bound;
        }
        const auto items = lang::list_items(rest);
        bound.arguments.insert(bound.arguments.end(), items.begin(), items.end());
    }
    return bound;
}

} // namespace heddle::host
