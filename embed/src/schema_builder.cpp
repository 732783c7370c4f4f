#include <heddle/base/ascii.hpp>
#include <heddle/json_conversion.hpp>

#include <algorithm>

namespace heddle {

namespace {

/// The name of a type out of the name of a function template of it: of "… [with T = shop::order]"
/// "shop.order". Other characters than letters, digits and points need escapes in a reference.
[[nodiscard]] std::string definition_name(std::string_view function) {
    const std::size_t mark = function.rfind("T = ");
    std::string_view type = function;
    if (mark != std::string_view::npos) {
        type.remove_prefix(mark + 4);
        type = type.substr(0, type.find_first_of(";]"));
    }
    std::string name;
    for (const char c : type) {
        const bool plain = ascii::is_letter(c) || ascii::is_digit(c) || c == '_';
        if (plain) name += c;
        else if (!name.empty() && name.back() != '.') name += '.';
    }
    return name;
}

} // namespace

bool schema_builder::is_open(std::string_view type) const noexcept {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const auto& each) { return each.first == type; });
}

json schema_builder::reference(std::string_view type) {
    for (auto& [open, referred] : open_) {
        if (open == type) referred = true;
    }
    return json::object{{"$ref", "#/$defs/" + definition_name(type)}};
}

json schema_builder::close(json schema) {
    const auto [type, referred] = std::move(open_.back());
    open_.pop_back();
    if (!referred) return schema;
    const std::string name = definition_name(type);
    definitions_.set(name, std::move(schema));
    return json::object{{"$ref", "#/$defs/" + name}};
}

json schema_builder::complete(json schema) const {
    if (!definitions_.empty()) schema.as_object().set("$defs", definitions_);
    return schema;
}

} // namespace heddle
