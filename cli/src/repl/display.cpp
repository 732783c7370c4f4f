#include "repl/display.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/display_width.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/layout.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/setup/display_text.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

constexpr std::string_view green = "\x1b[32m";
constexpr std::string_view cyan = "\x1b[36m";
constexpr std::string_view magenta = "\x1b[35m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view off = "\x1b[0m";

std::size_t end_of_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size(); ++at) {
        if (text[at] == '\\') ++at;
        else if (text[at] == '"') return at + 1;
    }
    return text.size();
}

bool is_number(std::string_view word) {
    const std::size_t sign = word.starts_with("-") || word.starts_with("+") ? 1 : 0;
    return word.size() > sign && ascii::is_digit(word[sign]);
}

std::string_view colour_of_word(std::string_view word) {
    if (is_number(word)) return cyan;
    if (word == "true" || word == "false" || word == "nil") return magenta;
    return {};
}

/// Longer texts stay in one line: to lay them out takes a multiple of their size.
constexpr std::size_t max_laid_out = std::size_t{1} << 20;

/// A written form that cannot be read, such as that of a function with an odd name, stays as it is.
void lay_out(std::string& text, std::size_t columns) {
    if (text.size() > max_laid_out) return;
    lang::layout_options options;
    options.width = columns;
    auto lines = lang::lay_out(text, 0, options);
    if (!lines) return;
    text = *std::move(lines);
    while (text.ends_with('\n')) text.pop_back();
}

[[nodiscard]] const lang::value* member_of(const lang::value* from, std::string_view name) {
    return from && from->is(lang::kind::map) ? lang::map_find(*from, name) : nullptr;
}

[[nodiscard]] std::string_view text_in(const lang::value* from) {
    return from && from->is(lang::kind::string) ? lang::string_bytes(*from) : std::string_view();
}

[[nodiscard]] long long count_in(const lang::value* from) {
    return from && from->is_integer() ? from->as_integer() : 0;
}

/// "gpt-4o, 7 tokens in, 6 out, $0.01"; empty parts are left out.
std::string notes_line(const lang::value* notes) {
    const lang::value* usage = member_of(notes, "usage");
    std::string text = utf8::printable_line(text_in(member_of(notes, "model")));
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const long long in = count_in(member_of(usage, "input_tokens"));
    const long long out = count_in(member_of(usage, "output_tokens"));
    if (in != 0 || out != 0) {
        add(setup::grouped(in) + (in == 1 ? " token in, " : " tokens in, ") + setup::grouped(out) +
            " out");
    }
    const lang::value* cost = member_of(usage, "cost_usd");
    if (cost && cost->is_real() && cost->as_real() > 0) add(setup::dollars(cost->as_real()));
    return text;
}

/// Cuts after a line, or inside of one that is too long alone.
void cut_lines(shown_value& shown, std::size_t max_bytes) {
    std::string& text = shown.text;
    if (text.size() <= max_bytes) return;
    const std::size_t line_end = text.rfind('\n', max_bytes);
    const bool whole_lines = line_end != std::string::npos && line_end > max_bytes / 2;
    utf8::shorten(text, whole_lines ? line_end + 1 : max_bytes);
    text += "…";
    shown.was_cut = true;
}

} // namespace

std::string coloured(std::string_view text) {
    std::string out;
    const auto put = [&](std::string_view piece, std::string_view colour) {
        if (colour.empty()) out += piece;
        else out.append(colour).append(piece).append(off);
    };
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at + 1;
        std::string_view colour;
        if (text[at] == '"') {
            end = end_of_string(text, at);
            colour = green;
        } else if (text.substr(at, 2) == "#<") {
            end = std::min(text.find('>', at), text.size() - 1) + 1;
            colour = dim;
        } else if (text.find_first_of("() \"\n", at) != at) {
            end = std::min(text.find_first_of("() \"\n", at), text.size());
            colour = colour_of_word(text.substr(at, end - at));
        }
        put(text.substr(at, end - at), colour);
        at = end;
    }
    return out;
}

shown_value show_value(const lang::value& content, std::size_t max_bytes, bool colour,
                       std::size_t columns) {
    lang::print_options options;
    options.max_bytes = columns == 0 ? max_bytes : std::max(max_bytes, max_laid_out);
    shown_value result;
    result.text = lang::print_value(content, options);
    result.was_cut = result.text.size() >= options.max_bytes && result.text.ends_with("…");
    if (columns != 0) {
        if (!result.was_cut && display_width(result.text) > columns) lay_out(result.text, columns);
        cut_lines(result, max_bytes);
    }
    result.text = utf8::printable(result.text); // a name may hold any character
    if (colour) result.text = coloured(result.text);
    return result;
}

std::string show_task_result(const lang::value& content, std::size_t max_bytes, bool colour,
                             std::size_t columns) {
    const lang::value* notes = member_of(&content, "notes");
    const std::string_view text = text_in(member_of(&content, "content"));
    const std::string_view status = text_in(member_of(&content, "status"));
    std::string_view failure;
    std::string out;
    if (status != "COMPLETE") {
        failure = text_in(member_of(member_of(notes, "error"), "message"));
        out += std::string(status) + ": " + utf8::printable(failure);
        out += failure.empty() && !text.empty() ? "" : "\n";
    }
    if (const lang::value* parsed = member_of(&content, "parsedContent")) {
        out += show_value(*parsed, max_bytes, colour, columns).text;
    } else if (failure.empty() || text != failure) {
        shown_value shown{std::string(text)};
        cut_lines(shown, max_bytes);
        out += utf8::printable(shown.text);
    }
    if (!out.ends_with('\n')) out += '\n';
    const std::string line = notes_line(notes) + "; :last shows all of it";
    if (colour) out.append(dim).append(line).append(off);
    else out += line;
    return out + "\n";
}

} // namespace heddle::cli
