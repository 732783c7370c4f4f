// The manual page.
#include "command_line/command_help.hpp"

namespace heddle::cli {

namespace {

/// Text of the page: no character of it is a command of roff.
std::string escaped(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\'')) out += "\\&";
        if (c == '\\') out += "\\e";
        else if (c == '-') out += "\\-";
        else out += c;
        line_start = c == '\n';
    }
    return out;
}

void append_details(std::string& out, std::string_view details) {
    bool verbatim = false;
    while (!details.empty()) {
        const std::size_t end = details.find('\n');
        const std::string_view line = details.substr(0, end);
        details.remove_prefix(end == std::string_view::npos ? details.size() : end + 1);
        const bool indented = line.starts_with(' ');
        if (indented != verbatim) {
            out += indented ? ".nf\n" : ".fi\n";
            verbatim = indented;
        }
        if (line.empty()) out += ".PP\n";
        else out += escaped(line) + "\n";
    }
    if (verbatim) out += ".fi\n";
}

void append_options(std::string& out, const command_help& of) {
    for (const option_help& option : of.options) {
        out += ".TP\n";
        std::string head;
        for (const std::string& name : option.names)
            head += (head.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
        if (!option.value.empty()) head += " \\fI" + escaped(option.value) + "\\fR";
        out += head + "\n" + escaped(option.description);
        if (!option.default_value.empty())
            out += " (default: " + escaped(option.default_value) + ")";
        out += "\n";
    }
}

} // namespace

std::string man_page(const std::vector<command_help>& all) {
    const command_help& program = all.front();
    std::string out = ".TH HEDDLE 1\n.SH NAME\nheddle \\- " + escaped(program.summary) +
                      "\n.SH SYNOPSIS\n.B heddle\n.I COMMAND\n[\\fIOPTIONS\\fR] "
                      "[\\fIARGUMENTS\\fR]\n.SH COMMANDS\n";
    for (const command_help& each : all) {
        if (&each == &program || each.group == command_group::hidden) continue;
        out += ".SS \"" + escaped(usage_line(each).substr(std::string_view("Usage: ").size())) +
               "\"\n" + escaped(each.summary) + ".\n";
        append_options(out, each);
        if (each.details.empty()) continue;
        out += ".PP\n";
        append_details(out, each.details);
    }
    out += ".SH DESCRIPTION\n";
    append_details(out, program.details);
    return out;
}

} // namespace heddle::cli
