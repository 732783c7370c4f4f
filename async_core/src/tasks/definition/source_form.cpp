#include "tasks/definition/source_form.hpp"

#include "tasks/output/shown_value.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include <algorithm>
#include <array>

namespace heddle::tasks {

namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t max_json = std::size_t{1} << 20; ///< bytes

/// Keys of JSON Schema whose empty list can only mean an object.
[[nodiscard]] bool holds_object(std::string_view key) noexcept {
    static constexpr std::array<std::string_view, 13> keys{"properties",
                                                           "items",
                                                           "definitions",
                                                           "$defs",
                                                           "not",
                                                           "additionalProperties",
                                                           "if",
                                                           "then",
                                                           "else",
                                                           "contains",
                                                           "propertyNames",
                                                           "dependencies",
                                                           "context_management"};
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

[[nodiscard]] bool is_pair(const source_form& form) {
    if (!form.is_list() || form.size() != 2) return false;
    const source_form head = form[0];
    return (head.is_symbol() && head.text() != "quote") || head.is_string();
}

result<void> append(std::string& out, const source_form& given, std::size_t depth,
                    std::string_view key) {
    if (depth > deepest) return error(lang::errc::evaluation, "is nested too deep");
    // Data that holds the same part twice at each of 30 levels is small; its JSON is not.
    if (out.size() > max_json) {
        return error(lang::errc::evaluation,
                     "takes more than " + std::to_string(max_json / 1024) + " KiB as JSON");
    }
    const source_form form = given.unquoted();
    if (!form.is_list()) {
        lang::json_write_options bound; // a map may hold such parts as well
        bound.max_bytes = max_json;
        HEDDLE_TRY(const std::string json, lang::value_to_json(form.content, bound));
        out += json;
        return {};
    }
    bool object = form.size() != 0 || holds_object(key);
    for (std::size_t i = 0; i < form.size() && object; ++i) object = is_pair(form[i]);
    out += object ? '{' : '[';
    for (std::size_t i = 0; i < form.size(); ++i) {
        if (i != 0) out += ',';
        const source_form element = form[i];
        if (!object) {
            HEDDLE_CHECK(append(out, element, depth + 1, {}));
            continue;
        }
        HEDDLE_TRY(const std::string name, lang::value_to_json(element[0].content));
        out += name;
        out += ':';
        HEDDLE_CHECK(append(out, element[1], depth + 1, element[0].text()));
    }
    out += object ? '}' : ']';
    return {};
}

} // namespace

source_form source_form::operator[](std::size_t i) const {
    source_form element{lang::list_items(content)[i], span};
    const auto* storage = static_cast<const lang::list_object*>(content.target());
    if (storage && storage->places) {
        const source_span known = storage->places->elements[content.offset() + i];
        if (known.known()) element.span = known;
    }
    return element;
}

std::string_view source_form::text() const noexcept {
    return is_symbol() ? lang::symbol_name(content) : lang::string_bytes(content);
}

std::string source_form::shown() const { return shown_value(content); }

source_form source_form::unquoted() const {
    if (!is_list() || size() != 2) return *this;
    const source_form head = (*this)[0];
    return head.is_symbol() && head.text() == "quote" ? (*this)[1] : *this;
}

result<std::string> form_to_json(const source_form& form) {
    std::string out;
    HEDDLE_CHECK(append(out, form, 0, {}));
    return out;
}

} // namespace heddle::tasks
