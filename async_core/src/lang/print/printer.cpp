#include <heddle/lang/printer.hpp>

#include <heddle/base/hex.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/builtin.hpp>
#include <heddle/lang/code.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>

#include "lang/print/printing.hpp"
#include "lang/text/number_text.hpp"
#include "lang/text/symbol_syntax.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace heddle::lang {

namespace {

/// As the reader has it: not JSON, which leaves DEL and the controls of C1 as they are.
void append_escaped(std::string& out, std::string_view text) {
    const auto append_control = [&](char code) {
        out += "\\u00";
        append_hex(out, {&code, 1});
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto c = static_cast<unsigned char>(text[at]);
        switch (c) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\t': out += "\\t"; break;
        case '\r': out += "\\r"; break;
        case 0xC2:
            if (const char32_t point = utf8::decode(text, at).value; utf8::is_control(point)) {
                append_control(static_cast<char>(point));
                ++at;
                break;
            }
            [[fallthrough]];
        default:
            if (utf8::is_control(c) && c < 0x80) append_control(text[at]);
            else out += text[at];
        }
    }
}

void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    append_escaped(out, text);
    out += '"';
}

/// The mark of `(quote x)` and its like, when the short form reads back as the same list.
[[nodiscard]] std::string_view mark_of(std::span<const value> items) noexcept {
    if (items.size() != 2 || !items[0].is(kind::symbol)) return {};
    const std::string_view head = symbol_name(items[0]);
    if (head == "quote") return "'";
    if (head == "quasiquote") return "`";
    if (head == "unquote-splicing") return ",@";
    if (head != "unquote") return {};
    const bool looks_spliced = items[1].is(kind::symbol) && symbol_name(items[1]).starts_with('@');
    return looks_spliced ? std::string_view() : ",";
}

/// A list or map whose rest is still to be printed.
struct print_frame {
    std::span<const value> items;
    std::span<const map_entry> entries;
    std::size_t next = 0;
    bool short_form = false; ///< 'x: no bracket at the end
};

class printing {
public:
    printing(text_builder& out, const print_options& options) : options_(options), text_(out) {}

    /// Nothing more is printed than what is shown, about: a look at a huge value costs little.
    /// False: stop.
    [[nodiscard]] bool run(const value& v) {
        if (options_.display && v.is(kind::string)) {
            // A character more than fits, so that the cut is seen.
            constexpr std::size_t max_character_length = 4;
            const std::size_t shown =
                std::min(options_.max_bytes, value::max_length + std::size_t{1});
            return text_.append(utf8::prefix(string_bytes(v), shown + max_character_length));
        }
        print(v);
        while (!stopped_ && !frames_.empty() && text_.size() <= options_.max_bytes) {
            if (!text_.settle()) return false;
            step();
        }
        return !stopped_ && text_.settle();
    }

private:
    void print(const value& v);
    void print_list(const value& v);
    void print_map(const value& v);
    void print_string(const value& v);
    void print_symbol(const value& v);
    void step();

    const print_options& options_;
    text_builder& text_;
    std::vector<print_frame> frames_;
    bool stopped_ = false;
};

void printing::print(const value& v) {
    switch (v.type()) {
    case kind::unbound: text_.tail() += "#<unbound>"; break;
    case kind::nil: text_.tail() += "nil"; break;
    case kind::boolean: text_.tail() += v.as_boolean() ? "true" : "false"; break;
    case kind::integer: text_.tail() += std::to_string(v.as_integer()); break;
    case kind::real: text_.tail() += real_text(v.as_real()); break;
    case kind::string: print_string(v); break;
    case kind::symbol: print_symbol(v); break;
    case kind::list: print_list(v); break;
    case kind::map: print_map(v); break;
    case kind::closure: {
        const std::string& name = closure_of(v)->code->name;
        text_.tail() += name.empty() ? "#<function>" : "#<function " + name + ">";
        break;
    }
    case kind::builtin:
        text_.tail() += "#<builtin " + std::string(v.as_builtin().name) + ">";
        break;
    case kind::host: text_.tail() += "#<" + host_of(v)->describe() + ">"; break;
    case kind::cell: text_.tail() += "#<cell>"; break;
    case kind::code: text_.tail() += "#<code>"; break;
    }
}

void printing::print_string(const value& v) {
    std::string_view text = string_bytes(v);
    // One byte more than fits, so that the cut is seen.
    if (text.size() > options_.max_bytes) {
        text = utf8::prefix(text, options_.max_bytes + 1);
    }
    constexpr std::size_t piece = 16 * 1024;
    text_.tail() += '"';
    while (!text.empty() && !stopped_) {
        const std::string_view now = utf8::prefix(text, piece);
        append_escaped(text_.tail(), now);
        text.remove_prefix(now.size());
        stopped_ = !text_.settle();
    }
    text_.tail() += '"';
}

void printing::print_symbol(const value& v) {
    const std::string_view name = symbol_name(v);
    if (reads_as_symbol(name)) {
        text_.tail() += name;
        return;
    }
    text_.tail() += "(string->symbol ";
    append_quoted(text_.tail(), name);
    text_.tail() += ')';
}

void printing::print_list(const value& v) {
    if (v.length() == 0) {
        text_.tail() += "()";
        return;
    }
    if (frames_.size() >= options_.max_depth) {
        text_.tail() += "(…)";
        return;
    }
    print_frame frame{list_items(v), {}, 0, false};
    if (const std::string_view mark = mark_of(frame.items); !mark.empty()) {
        text_.tail() += mark;
        frame.next = 1;
        frame.short_form = true;
    } else {
        text_.tail() += '(';
    }
    frames_.push_back(frame);
}

void printing::print_map(const value& v) {
    if (v.length() != 0 && frames_.size() >= options_.max_depth) {
        text_.tail() += "(…)";
        return;
    }
    text_.tail() += "(dict";
    frames_.push_back({{}, map_entries(v), 0, false});
}

/// Prints the next element of the innermost list or map, or closes it.
void printing::step() {
    print_frame& frame = frames_.back();
    const std::size_t next = frame.next++;
    if (next == frame.items.size() + frame.entries.size()) {
        if (!frame.short_form) text_.tail() += ')';
        frames_.pop_back();
        return;
    }
    if (!frame.items.empty()) {
        if (next != 0 && !frame.short_form) text_.tail() += ' ';
        print(frame.items[next]);
        return;
    }
    const map_entry& entry = frame.entries[next];
    text_.tail() += ' ';
    print_string(entry.key);
    text_.tail() += ' ';
    print(entry.item);
}

} // namespace

bool print_to(text_builder& out, const value& v, const print_options& options) {
    return printing(out, options).run(v);
}

std::string print_value(const value& v, const print_options& options) {
    free_work work;
    text_builder out(work);
    (void)print_to(out, v, options);
    std::string text = std::move(out).text().value_or("");
    if (text.size() > options.max_bytes) {
        utf8::shorten(text, options.max_bytes);
        text += "…";
    }
    return text;
}

std::string quoted(std::string_view text) {
    std::string out;
    append_quoted(out, text);
    return out;
}

} // namespace heddle::lang
