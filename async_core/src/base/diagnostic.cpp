#include <heddle/base/diagnostic.hpp>

#include <heddle/base/display_width.hpp>
#include <heddle/base/utf8.hpp>

namespace heddle {

namespace {

constexpr std::size_t widest_line = 160; // code points of a source line that are shown

// Messages come from models and servers: no control codes of terminals get through.
std::string shown(std::string_view text, std::size_t max_bytes) {
    return utf8::printable(utf8::shortened(text, max_bytes, " […]"));
}

std::string place_name(const source_location& place) {
    return utf8::printable_line(place.file) + ":" + std::to_string(place.line) + ":" +
           std::to_string(place.column);
}

class painter {
public:
    explicit painter(bool on) : on_(on) {}
    std::string operator()(const char* code, std::string text) const {
        return on_ ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : std::move(text);
    }

private:
    bool on_;
};

void append_snippet(std::string& out, const source_location& place, const painter& paint) {
    const std::string number = std::to_string(place.line);
    const std::string margin(number.size(), ' ');
    // A very long line is shown as a window around the mark.
    std::size_t first = 0;
    if (place.mark_begin > widest_line / 2) first = place.mark_begin - widest_line / 2;
    std::string_view line = place.line_text;
    line.remove_prefix(utf8::offset_of(line, first));
    const std::size_t cut = utf8::offset_of(line, widest_line);
    const bool longer = cut < line.size();
    line = line.substr(0, cut);
    const std::size_t mark = utf8::offset_of(line, place.mark_begin - first);
    std::string pad;
    for (std::size_t i = 0; i < mark;) {
        const utf8::code_point next = utf8::decode(line, i);
        if (next.value == '\t') pad += '\t';
        else pad.append(display_width(next.value), ' ');
        i += next.bytes;
    }
    const std::string_view marked = line.substr(mark);
    const std::size_t length =
        display_width(marked.substr(0, utf8::offset_of(marked, place.mark_length)));
    out += paint("2", " " + margin + " --> ") + place_name(place) + "\n";
    out += paint("2", " " + number + " | ") + utf8::printable(line) + (longer ? " …" : "") + "\n";
    out += paint("2", " " + margin + " | ") + pad +
           paint("1;31", std::string(std::max<std::size_t>(1, length), '^')) + "\n";
}

} // namespace

std::string render_diagnostic(std::string_view kind, const error& failure,
                              const source_map& sources, const diagnostic_style& style) {
    const painter paint(style.colour);
    const error_info& info = failure.info();
    std::string out = paint("1;31", std::string(kind.empty() ? "error" : kind)) + ": " +
                      shown(info.message, style.max_message) + "\n";
    if (info.span.known()) {
        const source_location place = sources.locate(info.span);
        if (place.line != 0) append_snippet(out, place, paint);
    }
    const std::size_t count = info.trace.size();
    for (std::size_t i = 0; i < count; ++i) {
        if (count > style.max_trace && i == style.max_trace / 2) {
            const std::size_t skip = count - style.max_trace;
            out += "  … " + std::to_string(skip) + " more …\n";
            i += skip;
        }
        const trace_entry& entry = info.trace[i];
        out += "  " + shown(entry.what, style.max_message);
        const source_location place = sources.locate(entry.where);
        if (place.line != 0) out += paint("2", " (" + place_name(place) + ")");
        // A function that calls itself.
        const std::size_t first = i;
        while (i + 1 < count && info.trace[i + 1].what == entry.what &&
               info.trace[i + 1].where == entry.where)
            ++i;
        if (i != first) out += ", " + std::to_string(i - first + 1) + " times";
        out += "\n";
    }
    if (!info.hint.empty())
        out += paint("1;36", "hint") + ": " + shown(info.hint, style.max_message) + "\n";
    std::size_t depth = 0;
    for (const error* cause = info.cause.get(); cause && depth < 8;
         cause = cause->info().cause.get(), ++depth) {
        out += "caused by: " + shown(cause->message(), style.max_message) + "\n";
    }
    return out;
}

} // namespace heddle
