#include "tasks/template_files/element_reading.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/tasks/definition/task_fields.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_shown_bytes = 60;

[[nodiscard]] std::string shown(std::string_view text) {
    return "\"" + utf8::shortened(text, max_shown_bytes) + "\"";
}

[[nodiscard]] std::size_t indentation(std::string_view line) noexcept {
    return std::min(line.find_first_not_of(" \t"), line.size());
}

} // namespace

std::string text_block(const xml_element& element) {
    const std::string_view text = element.text;
    const xml_attribute* space = element.attribute("xml:space");
    if (space && space->text == "preserve") return std::string(text);
    std::vector<std::string_view> lines;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    // The first line is behind the tag: its indentation is meaningless.
    std::size_t common = std::string_view::npos;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (!ascii::trim(lines[i]).empty()) common = std::min(common, indentation(lines[i]));
    }
    std::string out;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string_view line = lines[i];
        if (i != 0 && common != std::string_view::npos) {
            line.remove_prefix(std::min(common, line.size()));
        }
        if (i != 0) out += '\n';
        out += line;
    }
    return std::string(ascii::trim(out));
}

std::vector<std::string> comma_list(std::string_view text) {
    std::vector<std::string> strings;
    text = ascii::trim(text);
    if (text.empty()) return strings;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        strings.emplace_back(ascii::trim(text.substr(at, end - at)));
        at = end + 1;
    }
    return strings;
}

void element_reading::report(std::string_view code, source_span where, std::string message,
                             std::string hint) {
    problems_.push_back({lang::severity::error, code, std::move(message), std::move(hint), where});
}

source_span element_reading::place(const xml_element& element) {
    return element.inside.end > element.inside.begin && element.children.empty() ? element.inside
                                                                                 : element.span;
}

void element_reading::only_attributes(const xml_element& element,
                                      std::initializer_list<std::string_view> known) {
    for (const xml_attribute& each : element.attributes) {
        if (std::find(known.begin(), known.end(), each.name) != known.end()) continue;
        const std::vector<std::string> names(known.begin(), known.end());
        std::string hint = lang::suggest_names(each.name, names);
        if (hint.empty()) {
            hint =
                names.empty() ? "it takes none" : "its attributes are " + ascii::join(names, ", ");
        }
        report("unknown-attribute", each.name_span,
               "<" + element.name + "> has no attribute " + each.name, std::move(hint));
    }
}

void element_reading::no_children(const xml_element& element) {
    for (const xml_element& child : element.children) {
        report("unknown-element", child.span,
               "<" + element.name + "> holds text only, no <" + child.name + ">",
               "write &lt; for the character itself, or use <![CDATA[ … ]]>");
    }
}

void element_reading::no_text(const xml_element& element) {
    if (!element.has_text()) return;
    report("stray-text", element.span, "<" + element.name + "> holds elements, no text");
}

std::optional<std::string> element_reading::text(const xml_element& element) {
    no_children(element);
    if (!element.children.empty()) return std::nullopt;
    const std::string_view content = ascii::trim(element.text);
    if (content.empty()) {
        report("missing", element.span, "<" + element.name + "> is empty");
        return std::nullopt;
    }
    return std::string(content);
}

std::optional<bool> element_reading::boolean(std::string_view what, std::string_view content,
                                             source_span where) {
    if (content == "true" || content == "false") return content == "true";
    report("bad-value", where, std::string(what) + " must be true or false, not " + shown(content));
    return std::nullopt;
}

std::optional<bool> element_reading::boolean(const xml_element& element) {
    only_attributes(element, {});
    no_children(element);
    return boolean("<" + element.name + ">", ascii::trim(element.text), place(element));
}

void element_reading::unfit(const xml_element& element, std::string_view expected,
                            std::string_view content) {
    report("bad-value", place(element),
           "<" + element.name + "> must be " + std::string(expected) + ", not " + shown(content));
}

std::optional<std::size_t> element_reading::choice(std::string_view what, std::string_view content,
                                                   source_span where,
                                                   std::span<const std::string_view> words) {
    const auto found = std::find(words.begin(), words.end(), content);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string known;
    for (const std::string_view word : words) {
        known += known.empty() ? "" : word == words.back() ? " or " : ", ";
        known += word;
    }
    report("bad-value", where, std::string(what) + " must be " + known + ", not " + shown(content),
           lang::suggest_names(content, {words.begin(), words.end()}));
    return std::nullopt;
}

std::optional<std::size_t> element_reading::choice(const xml_element& element,
                                                   std::span<const std::string_view> words) {
    only_attributes(element, {});
    no_children(element);
    return choice("<" + element.name + ">", ascii::trim(element.text), place(element), words);
}

void element_reading::unknown_element(const xml_element& child, std::string_view inside,
                                      const std::vector<std::string>& known) {
    std::string hint = lang::suggest_names(child.name, known);
    if (hint.empty()) hint = "allowed elements: " + ascii::join(known, ", ");
    report("unknown-element", child.span,
           "<" + std::string(inside) + "> has no element <" + child.name + ">", std::move(hint));
}

void element_reading::unknown_setting(const xml_element& child, std::string_view group) {
    const std::string_view inside = group.empty() ? std::string_view("task") : group;
    const task_field* meant = find_misplaced(group, child.name);
    if (!meant || !meant->in_files) return unknown_element(child, inside, element_names(group));
    const std::string_view place = meant->group.empty() ? std::string_view("task") : meant->group;
    report("unknown-element", child.span,
           "<" + std::string(inside) + "> has no element <" + child.name + ">",
           "write <" + std::string(meant->name) + "> inside <" + std::string(place) + ">");
}

} // namespace heddle::tasks
