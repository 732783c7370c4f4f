#include <heddle/tasks/definition/field_values.hpp>

#include <heddle/base/number_text.hpp>

#include <type_traits>

namespace heddle::tasks {

namespace {

using shape = field_shape;
using std::string_view;

[[nodiscard]] std::string range_text(const task_field& field) {
    return field.above_min
               ? " above " + number_text(field.min) + ", at most " + number_text(field.max)
               : " from " + number_text(field.min) + " to " + number_text(field.max);
}

[[nodiscard]] std::string words_text(std::span<const string_view> words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
        text += '"';
        text += words[i];
        text += '"';
    }
    return text;
}

template <class Content>
[[nodiscard]] field_value value_in(const task_field& field, const Content& given) {
    if constexpr (std::is_same_v<Content, bool>) {
        if (field.member.shape == shape::choice)
            return field_word{given ? std::size_t{0} : std::size_t{1}};
        return given;
    } else if constexpr (std::is_enum_v<Content>) {
        return field_word{static_cast<std::size_t>(given)};
    } else if constexpr (std::is_integral_v<Content>) {
        return static_cast<std::int64_t>(given);
    } else if constexpr (std::is_floating_point_v<Content>) {
        return given;
    } else {
        return std::chrono::duration<double>(given).count();
    }
}

} // namespace

std::string expected_of(const task_field& field) {
    if (const lang::request_setting* request = request_of(field)) {
        return std::string(request->expected);
    }
    switch (field.member.shape) {
    case shape::block: return "a string";
    case shape::word: return "a non-empty string";
    case shape::number: return "a number" + range_text(field);
    case shape::whole: return "a whole number" + range_text(field);
    case shape::seconds: return "a number of seconds" + range_text(field);
    case shape::flag: return "true or false";
    case shape::choice: return words_text(field.words);
    case shape::names: return "a list of names";
    case shape::group: return "a list of (name value) or a map";
    case shape::requests:
    case shape::special: break;
    }
    return {};
}

bool has_range(const task_field& field) noexcept {
    return field.member.shape == shape::number || field.member.shape == shape::whole ||
           field.member.shape == shape::seconds;
}

bool is_in_range(const task_field& field, const field_value& given) noexcept {
    double number = 0;
    if (const auto* real = std::get_if<double>(&given)) number = *real;
    else if (const auto* whole = std::get_if<std::int64_t>(&given)) {
        number = static_cast<double>(*whole);
    } else return true;
    if (const lang::request_setting* request = request_of(field)) {
        return number >= request->min && number <= request->max;
    }
    return (field.above_min ? number > field.min : number >= field.min) && number <= field.max;
}

void store(const field_ref& into, field_value given) {
    const auto put = [&](auto* own) {
        using type = std::remove_pointer_t<decltype(own)>;
        if constexpr (std::is_same_v<type, std::string> ||
                      std::is_same_v<type, std::vector<std::string>>) {
            *own = std::get<type>(std::move(given));
        } else {
            using content = typename type::value_type;
            if constexpr (std::is_same_v<content, bool>) {
                const auto* word = std::get_if<field_word>(&given);
                *own = word ? word->index == 0 : std::get<bool>(given);
            } else if constexpr (std::is_enum_v<content>) {
                *own = static_cast<content>(std::get<field_word>(given).index);
            } else if constexpr (std::is_integral_v<content>) {
                *own = static_cast<content>(std::get<std::int64_t>(given));
            } else if constexpr (std::is_floating_point_v<content>) {
                *own = std::get<double>(given);
            } else {
                *own = std::chrono::duration_cast<content>(
                    std::chrono::duration<double>(std::get<double>(given)));
            }
        }
    };
    std::visit(put, into);
}

std::optional<field_value> value_of(const task_field& field, const task_template& from) {
    if (!field.member.view) return std::nullopt;
    const auto get = [&](const auto* own) -> std::optional<field_value> {
        using type = std::remove_cvref_t<decltype(*own)>;
        if constexpr (std::is_same_v<type, std::string> ||
                      std::is_same_v<type, std::vector<std::string>>) {
            if (own->empty()) return std::nullopt;
            return field_value(*own);
        } else {
            if (!*own) return std::nullopt;
            return value_in(field, **own);
        }
    };
    return std::visit(get, field.member.view(from));
}

bool is_said(const task_field& field, const task_template& from) {
    if (!field.member.view) return false;
    const field_view own = field.member.view(from);
    if (const auto* text = std::get_if<const std::string*>(&own)) {
        return !(*text)->empty() && **text != field.unsaid;
    }
    return value_of(field, from).has_value();
}

} // namespace heddle::tasks
