#include "tasks/template_files/field_element.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace heddle::tasks {

namespace {

using shape = field_shape;

[[nodiscard]] std::optional<field_value> block_of(const xml_element& element,
                                                  element_reading& read) {
    read.only_attributes(element, {"xml:space"});
    read.no_children(element);
    std::string made = text_block(element);
    if (made.empty()) read.tell("missing", element.span, "<" + element.name + "> is empty");
    return made;
}

template <class Number>
[[nodiscard]] std::optional<field_value> parsed(std::string_view text) {
    Number made = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), made);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>) {
        if (!std::isfinite(made)) return std::nullopt;
    }
    return made;
}

[[nodiscard]] std::optional<field_value> number_of(const task_field& field,
                                                   const xml_element& element,
                                                   element_reading& read) {
    read.only_attributes(element, {});
    const auto text = read.text(element);
    if (!text) return std::nullopt;
    auto made =
        field.member.shape == shape::whole ? parsed<std::int64_t>(*text) : parsed<double>(*text);
    if (made && is_in_range(field, *made)) return made;
    read.unfit(element, expected_of(field), *text);
    return std::nullopt;
}

[[nodiscard]] std::optional<field_value> names_of(const xml_element& element,
                                                  element_reading& read) {
    read.only_attributes(element, {});
    const auto text = read.text(element);
    if (!text) return std::nullopt;
    std::vector<std::string> made = comma_list(*text);
    if (std::find(made.begin(), made.end(), "") != made.end()) {
        read.tell("bad-value", element_reading::place(element),
                  "<" + element.name + "> has an empty name between its commas");
    }
    return made;
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
        const auto made = read.boolean(element);
        if (!made) return std::nullopt;
        return *made;
    }
    case shape::choice: {
        const auto made = read.choice(element, field.words);
        if (!made) return std::nullopt;
        return field_word{*made};
    }
    case shape::names: return names_of(element, read);
    case shape::group:
    case shape::requests:
    case shape::special: break;
    }
    return std::nullopt;
}

} // namespace heddle::tasks
