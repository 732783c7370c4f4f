#include <heddle/convert_choices.hpp>

#include <vector>

namespace heddle::detail {

json any_of_schema(json::array alternatives) {
    return json::object{{"anyOf", std::move(alternatives)}};
}

trial_budget trials_for(const json& whole) {
    constexpr std::size_t always = 1000;
    constexpr std::size_t per_value = 32;
    std::size_t values = 0;
    std::vector<const json*> left{&whole};
    while (!left.empty()) {
        const json& each = *left.back();
        left.pop_back();
        ++values;
        if (const auto* items = each.get_if<json::array>()) {
            for (const json& item : *items) left.push_back(&item);
        } else if (const auto* members = each.get_if<json::object>()) {
            for (const json_member& member : *members) left.push_back(&member.value);
        }
    }
    return {always + per_value * values};
}

} // namespace heddle::detail
