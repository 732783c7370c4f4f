#include "scripted/text_template.hpp"

#include <heddle/base/json_string.hpp>
#include <heddle/base/parse_number.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/providers/common/json_text.hpp>

#include "scripted/derive.hpp"

#include <algorithm>
#include <unordered_set>

namespace heddle::scripted {

using namespace heddle::providers; // the codecs' helpers for JSON

namespace {

constexpr std::string_view opening = "{{";
constexpr std::string_view closing = "}}";

error wrong(std::string what) { return error(errc::invalid_argument, std::move(what)); }

std::string quoted(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

/// Where the placeholder that begins at `at` ends (after its braces), or npos. Its end is the first
/// }} that is not a part of its expression: of a class, an escape or a repetition.
std::size_t placeholder_end(std::string_view text, std::size_t at) noexcept {
    const std::size_t first = text.find(closing, at + opening.size());
    const std::size_t colon = text.find(':', at);
    if (first == std::string_view::npos) return first;
    if (colon == std::string_view::npos || colon > first) return first + closing.size();
    bool in_class = false;
    std::size_t class_begin = 0;
    std::size_t open = 0;
    for (std::size_t i = colon + 1; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\') {
            ++i;
        } else if (in_class) {
            if (c == ']' && i > class_begin) in_class = false; // the first may be a bracket itself
        } else if (c == '[') {
            in_class = true;
            class_begin = i + (text.substr(i + 1).starts_with('^') ? 2 : 1);
        } else if (c == '{') {
            ++open;
        } else if (c == '}') {
            if (open == 0 && text.substr(i).starts_with(closing)) return i + closing.size();
            if (open != 0) --open;
        }
    }
    return std::string_view::npos;
}

void append_text(std::string& out, std::string_view text, text_template::form written) {
    if (written == text_template::form::plain) out += text;
    else if (written == text_template::form::json_text) append_json_escaped(out, text);
    else append_json_string(out, text);
}

/// A string that is the whole value in JSON: a number if that is what it is.
void append_value(std::string& out, std::string_view text, text_template::form written) {
    constexpr std::size_t max_number_length = 18;
    const bool is_number = text.size() <= max_number_length &&
                           check_json(text) == json_kind::number &&
                           text.find_first_not_of("-0123456789.") == std::string_view::npos;
    if (written == text_template::form::json_value && is_number) out += text;
    else append_text(out, text, written);
}

void append_count(std::string& out, std::size_t count) {
    append_json_number(out, static_cast<std::int64_t>(count));
}

void append_all(std::string& out, const std::vector<found>& matches, text_template::form written) {
    const bool as_list = written == text_template::form::json_value;
    std::unordered_set<std::string_view> seen;
    if (as_list) out += '[';
    for (const found& match : matches) {
        const bool first = seen.empty();
        if (!seen.insert(match.value).second) continue;
        if (!first) out += as_list ? "," : ", ";
        append_text(out, match.value, written);
    }
    if (as_list) out += ']';
}

std::string_view longest_of(const std::vector<found>& matches) noexcept {
    std::string_view longest;
    for (const found& match : matches) {
        if (match.value.size() > longest.size()) longest = match.value;
    }
    return longest;
}

} // namespace

const std::vector<text_template::operation>& text_template::operations() {
    static const std::vector<operation> all = {
        {"string", what::string, false},
        {"lines", what::lines, false},
        {"words", what::words, false},
        {"chars", what::characters, false},
        {"bytes", what::bytes, false},
        {"hash", what::hash, false},
        {"count", what::count, true},
        {"first", what::first, true},
        {"last", what::last, true},
        {"all", what::all, true},
        {"longest", what::longest, true},
        {"longest-block", what::longest_block, true},
        {"longest-block-lines", what::longest_block_lines, true}};
    return all;
}

template_scope::template_scope()
    : slots{{"user", static_cast<std::size_t>(text_slot::user)},
            {"system", static_cast<std::size_t>(text_slot::system)},
            {"model", static_cast<std::size_t>(text_slot::model)},
            {"prompt", static_cast<std::size_t>(text_slot::prompt)},
            {"tool", static_cast<std::size_t>(text_slot::tool)}} {}

bool template_scope::add_group(const std::string& name, std::size_t slot) {
    const auto& reserved = text_template::operations();
    const bool taken = std::any_of(reserved.begin(), reserved.end(),
                                   [&](const auto& known) { return known.name == name; });
    return !taken && slots.emplace(name, slot).second;
}

void text_template::add_literal(std::string_view text) {
    if (text.empty()) return;
    if (parts_.empty() || parts_.back().kind != what::literal) parts_.emplace_back();
    parts_.back().literal += text;
}

result<void> text_template::add(std::string_view text, const template_scope& scope, form written) {
    for (std::size_t at = 0;;) {
        const std::size_t begin = text.find(opening, at);
        const std::string_view before =
            text.substr(at, begin == std::string_view::npos ? begin : begin - at);
        if (!before.empty()) {
            std::string literal;
            append_text(literal, before, written);
            add_literal(literal);
        }
        if (begin == std::string_view::npos) return {};
        const std::size_t end = placeholder_end(text, begin);
        if (end == std::string_view::npos) return wrong("a placeholder is not closed by }}");
        HEDDLE_TRY(part read, read_placeholder(text.substr(begin, end - begin), scope, written));
        parts_.push_back(std::move(read));
        at = end;
    }
}

result<void> text_template::add_json_string(std::string_view text, const template_scope& scope) {
    if (text.starts_with(opening) && placeholder_end(text, 0) == text.size()) {
        return add(text, scope, form::json_value);
    }
    add_literal("\"");
    HEDDLE_CHECK(add(text, scope, form::json_text));
    add_literal("\"");
    return {};
}

result<text_template::part> text_template::read_placeholder(std::string_view text,
                                                            const template_scope& scope,
                                                            form written) {
    const std::string shown(text);
    text.remove_prefix(opening.size());
    text.remove_suffix(closing.size());
    const std::size_t name_end = text.find_first_of("@:");
    const std::string_view name = text.substr(0, name_end);
    std::string_view source;
    std::string_view expression;
    const std::size_t colon = text.find(':');
    const bool has_source = name_end != std::string_view::npos && text[name_end] == '@';
    const bool has_expression = colon != std::string_view::npos;
    if (has_source)
        source = text.substr(name_end + 1, has_expression ? colon - name_end - 1 : colon);
    if (has_expression) expression = text.substr(colon + 1);

    part created;
    created.written = written;
    const auto known = std::find_if(operations().begin(), operations().end(),
                                    [&](const operation& one) { return one.name == name; });
    if (known == operations().end()) {
        created.kind = what::text;
        if (has_source || has_expression) return wrong("unknown operation in " + quoted(shown));
        source = name;
    } else {
        created.kind = known->kind;
        if (known->needs_expression != has_expression) {
            return wrong(quoted(shown) +
                         (has_expression ? " takes no expression" : " lacks its :EXPRESSION"));
        }
        if (!has_source) source = scope.slots.contains("text") ? "text" : "user";
    }

    if (const auto number = parse_number<std::size_t>(source)) {
        if (*number >= scope.groups)
            return wrong("there is no group " + std::string(source) + " for " + quoted(shown));
        created.slot = group_slot(*number);
    } else {
        const auto slot = scope.slots.find(source);
        if (slot == scope.slots.end()) return wrong("unknown name in " + quoted(shown));
        created.slot = slot->second;
    }
    if (has_expression) {
        HEDDLE_TRY(created.expression, compile_expression(expression, anchors::each_line));
        if (created.expression->NumberOfCapturingGroups() == 0 &&
            (created.kind == what::longest_block)) {
            return wrong("the expression in " + quoted(shown) + " needs a group for the name");
        }
    }
    return created;
}

void text_template::fill(std::string& out, const slot_values& values) const {
    for (const part& wanted : parts_) {
        if (wanted.kind == what::literal) out += wanted.literal;
        else fill_part(wanted, values[wanted.slot], out);
    }
}

void text_template::fill_part(const part& wanted, std::string_view source, std::string& out) {
    const auto matches = [&] { return find_all(*wanted.expression, source); };
    switch (wanted.kind) {
    case what::literal: return;
    case what::text: return append_value(out, source, wanted.written);
    case what::string: return append_text(out, source, wanted.written);
    case what::lines: return append_count(out, count_lines(source));
    case what::words: return append_count(out, count_words(source));
    case what::characters: return append_count(out, utf8::count(source));
    case what::bytes: return append_count(out, source.size());
    case what::count: return append_count(out, matches().size());
    case what::all: return append_all(out, matches(), wanted.written);
    case what::longest: return append_value(out, longest_of(matches()), wanted.written);
    case what::hash: {
        char digits[16];
        const auto end = std::to_chars(digits, digits + sizeof digits, hash_of(source), 16).ptr;
        const std::string_view text(digits, static_cast<std::size_t>(end - digits));
        return append_text(out, std::string(16 - text.size(), '0') + std::string(text),
                           wanted.written);
    }
    case what::first:
    case what::last: {
        const auto found_ones = matches();
        if (found_ones.empty()) return append_text(out, {}, wanted.written);
        const found& one = wanted.kind == what::first ? found_ones.front() : found_ones.back();
        return append_value(out, one.value, wanted.written);
    }
    case what::longest_block:
        return append_text(out, longest_block(*wanted.expression, source).name, wanted.written);
    case what::longest_block_lines:
        return append_count(out, longest_block(*wanted.expression, source).lines);
    }
}

bool text_template::uses(text_slot slot) const noexcept {
    return std::any_of(parts_.begin(), parts_.end(), [&](const part& one) {
        return one.kind != what::literal && one.slot == static_cast<std::size_t>(slot);
    });
}

result<std::shared_ptr<const re2::RE2>> compile_expression(std::string_view text, anchors where) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    std::string pattern = where == anchors::each_line ? "(?m)" : "";
    pattern += text;
    auto object = std::make_shared<const re2::RE2>(pattern, options);
    if (!object->ok())
        return wrong("the expression " + quoted(text) + " is wrong: " + object->error());
    return object;
}

} // namespace heddle::scripted
