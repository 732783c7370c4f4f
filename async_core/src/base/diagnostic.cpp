#include <heddle/base/diagnostic.hpp>

#include <heddle/base/display_width.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace heddle {

namespace {

constexpr std::size_t max_line_width = 160; // code points of a source line that are shown

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
    if (place.mark_begin > max_line_width / 2) first = place.mark_begin - max_line_width / 2;
    std::string_view line = place.line_text;
    line.remove_prefix(utf8::offset_of(line, first));
    const std::size_t cut = utf8::offset_of(line, max_line_width);
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

/// A line of a trace and how often it follows itself: that of a function that calls itself.
struct repeated_line {
    const trace_entry* entry;
    std::size_t times;
};

std::vector<repeated_line> repeated_lines(const std::vector<trace_entry>& trace) {
    std::vector<repeated_line> lines;
    for (const trace_entry& each : trace) {
        const trace_entry* const last = lines.empty() ? nullptr : lines.back().entry;
        if (last && last->what == each.what && last->where == each.where) ++lines.back().times;
        else lines.push_back({&each, 1});
    }
    return lines;
}

void append_trace(std::string& out, const std::vector<trace_entry>& trace,
                  const source_map& sources, const diagnostic_style& style, const painter& paint) {
    const std::vector<repeated_line> lines = repeated_lines(trace);
    const std::size_t folded = lines.size() - std::min(lines.size(), style.max_trace);
    const std::size_t fold_begin = folded == 0 ? lines.size() : style.max_trace / 2;
    const auto append_line = [&](const repeated_line& line) {
        out += "  " + shown(line.entry->what, style.max_message);
        const source_location place = sources.locate(line.entry->where);
        if (place.line != 0) out += paint("2", " (" + place_name(place) + ")");
        if (line.times != 1) out += ", " + std::to_string(line.times) + " times";
        out += "\n";
    };
    for (std::size_t i = 0; i < fold_begin; ++i) append_line(lines[i]);
    if (folded == 0) return;
    std::size_t left_out = 0;
    for (std::size_t i = fold_begin; i < fold_begin + folded; ++i) left_out += lines[i].times;
    out += "  … " + std::to_string(left_out) + " more …\n";
    for (std::size_t i = fold_begin + folded; i < lines.size(); ++i) append_line(lines[i]);
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
    append_trace(out, info.trace, sources, style, paint);
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
