// The text of --help.
#include "command_line/command_help.hpp"

#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace heddle::cli {

namespace {

constexpr std::size_t description_column = 26;
constexpr unsigned min_columns = 60;
constexpr unsigned max_columns = 120; ///< longer lines are hard to read

/// Appends `text`, broken at spaces, with lines after the first indented. `at`: columns of the line
/// that are taken.
void append_wrapped(std::string& out, std::string_view text, std::size_t at, std::size_t indent,
                    unsigned columns) {
    bool first = true;
    while (!text.empty()) {
        const std::size_t space = text.find(' ');
        const std::string_view word = text.substr(0, space);
        text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
        if (word.empty()) continue;
        const std::size_t width = utf8::count(word);
        if (!first && at + 1 + width > columns) {
            out += '\n';
            out.append(indent, ' ');
            at = indent;
        } else if (!first) {
            out += ' ';
            ++at;
        }
        out += word;
        at += width;
        first = false;
    }
    out += '\n';
}

void append_row(std::string& out, const std::string& head, const std::string& description,
                unsigned columns) {
    out += "  " + head;
    std::size_t at = 2 + utf8::count(head);
    if (at + 2 > description_column) {
        out += '\n';
        at = 0;
    }
    out.append(description_column - at, ' ');
    append_wrapped(out, description, description_column, description_column, columns);
}

std::string head_of(const option_help& option) {
    std::string head;
    // Long names below each other, whether or not there is a short one.
    if (!option.is_argument && option.names.front().starts_with("--")) head = "    ";
    for (const std::string& name : option.names)
        head += (&name == &option.names.front() ? "" : ", ") + name;
    if (!option.value.empty()) head += " " + option.value;
    if (option.repeatable) head += "...";
    return head;
}

std::string description_of(const option_help& option) {
    std::string text = option.description;
    if (!option.default_value.empty()) text += " (default: " + option.default_value + ")";
    if (option.required && !option.is_argument) text += " (required)";
    return text;
}

void append_options(std::string& out, const command_help& of, unsigned columns) {
    std::vector<std::string> groups;
    for (const option_help& option : of.options) {
        if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
            groups.push_back(option.group);
    }
    // What every command has comes last.
    std::stable_partition(groups.begin(), groups.end(),
                          [](const std::string& name) { return name != "Options"; });
    for (const std::string& group : groups) {
        out += "\n" + group + ":\n";
        for (const option_help& option : of.options) {
            if (option.group == group)
                append_row(out, head_of(option), description_of(option), columns);
        }
    }
}

void append_commands(std::string& out, const command_help& of, const std::vector<command_help>& all,
                     unsigned columns) {
    constexpr std::array<std::pair<command_group, std::string_view>, 4> titles{{
        {command_group::run, "Run workflows"},
        {command_group::write, "Write workflows"},
        {command_group::models, "Models"},
        {command_group::other, "Other commands"},
    }};
    const bool program = of.name.find(' ') == std::string::npos;
    for (const auto& [group, title] : titles) {
        bool any = false;
        for (const std::string& child : of.children) {
            const auto found = std::find_if(all.begin(), all.end(), [&](const command_help& each) {
                return each.name == of.name + " " + child;
            });
            if (found == all.end() || found->group == command_group::hidden) continue;
            if (program && found->group != group) continue;
            if (!program && group != command_group::run) continue;
            if (!std::exchange(any, true))
                out += "\n" + std::string(program ? title : "Commands") + ":\n";
            append_row(out, child, found->summary, columns);
        }
    }
}

/// Joins the lines of a paragraph and breaks them anew. Indented lines stay as they are.
void append_details(std::string& out, std::string_view details, unsigned columns) {
    std::string paragraph;
    const auto flush = [&] {
        if (!paragraph.empty()) append_wrapped(out, paragraph, 0, 0, columns);
        paragraph.clear();
    };
    while (!details.empty()) {
        const std::size_t end = details.find('\n');
        const std::string_view line = details.substr(0, end);
        details.remove_prefix(end == std::string_view::npos ? details.size() : end + 1);
        if (!line.empty() && line.front() != ' ') {
            paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
            if (line.ends_with(':')) flush();
            continue;
        }
        flush();
        out += line;
        out += '\n';
    }
    flush();
}

} // namespace

std::string usage_line(const command_help& of) {
    std::string text = "Usage: " + of.name;
    if (!of.children.empty()) return text + " COMMAND";
    if (std::any_of(of.options.begin(), of.options.end(),
                    [](const option_help& each) { return !each.is_argument; }))
        text += " [OPTIONS]";
    for (const option_help& each : of.options) {
        if (!each.is_argument) continue;
        const std::string name = each.names.front() + (each.repeatable ? "..." : "");
        text += each.required ? " " + name : " [" + name + "]";
    }
    return text;
}

std::string help_text(const command_help& of, const std::vector<command_help>& all,
                      unsigned columns) {
    columns = std::clamp(columns, min_columns, max_columns);
    std::string out = of.summary + ".\n\n" + usage_line(of) + "\n";
    append_commands(out, of, all, columns);
    append_options(out, of, columns);
    if (!of.details.empty()) {
        out += '\n';
        append_details(out, of.details, columns);
    }
    return out;
}

} // namespace heddle::cli
