#include "tasks/template_files/field_element.hpp"

#include <heddle/base/parse_number.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::tasks {

namespace {

using shape = field_shape;

[[nodiscard]] std::optional<field_value> block_of(const xml_element& element,
                                                  element_reading& read) {
    read.only_attributes(element, {"xml:space"});
    read.no_children(element);
    std::string text = text_block(element);
    if (text.empty()) read.report("missing", element.span, "<" + element.name + "> is empty");
    return text;
}

template <class Number>
[[nodiscard]] std::optional<field_value> parsed(std::string_view text) {
    const auto number = parse_number<Number>(text);
    if (!number) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>) {
        if (!std::isfinite(*number)) return std::nullopt;
    }
    return *number;
}

[[nodiscard]] std::optional<field_value> number_of(const task_field& field,
                                                   const xml_element& element,
                                                   element_reading& read) {
    read.only_attributes(element, {});
    const auto text = read.text(element);
    if (!text) return std::nullopt;
    auto result =
        field.member.shape == shape::whole ? parsed<std::int64_t>(*text) : parsed<double>(*text);
    if (result && is_in_range(field, *result)) return result;
    read.unfit(element, expected_of(field), *text);
    return std::nullopt;
}

[[nodiscard]] std::optional<field_value> names_of(const xml_element& element,
                                                  element_reading& read) {
    read.only_attributes(element, {});
    const auto text = read.text(element);
    if (!text) return std::nullopt;
    std::vector<std::string> strings = comma_list(*text);
    if (std::find(strings.begin(), strings.end(), "") != strings.end()) {
        read.report("bad-value", element_reading::place(element),
                    "<" + element.name + "> has an empty name between its commas");
    }
    return strings;
}

} // namespace

std::optional<field_value> read_field_element(const task_field& field, const xml_element& element,
                                              element_reading& read) {
    switch (field.member.shape) {
    case shape::block: return block_of(element, read);
    case shape::word: {
        read.only_attributes(element, {});
        auto text = read.text(element);
        if (!text) return std::nullopt;
        return *std::move(text);
    }
    case shape::number:
    case shape::whole:
    case shape::seconds: return number_of(field, element, read);
    case shape::flag: {
        const auto result = read.boolean(element);
        if (!result) return std::nullopt;
        return *result;
    }
    case shape::choice: {
        const auto result = read.choice(element, field.words);
        if (!result) return std::nullopt;
        return field_word{*result};
    }
    case shape::names: return names_of(element, read);
    case shape::group:
    case shape::requests:
    case shape::special: break;
    }
    return std::nullopt;
}

} // namespace heddle::tasks
