#include "reference_page.hpp"

#include <algorithm>
#include <string_view>

namespace heddle::checks {

namespace {

/// Text of a comment as Markdown: an angle bracket outside of code is a character.
[[nodiscard]] std::string as_markdown(std::string_view text) {
    std::string out;
    bool is_code = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool begins_line = at == 0 || text[at - 1] == '\n';
        if (begins_line && text.substr(at).starts_with("    ")) { // a block of code
            const std::size_t end = std::min(text.find('\n', at), text.size());
            out += text.substr(at, end - at);
            at = end - 1;
            continue;
        }
        if (c == '`') is_code = !is_code;
        if (c == '<' && !is_code) out += '\\';
        out += c;
    }
    return out;
}

/// In one line, for a list.
[[nodiscard]] std::string in_one_line(std::string text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') {
            while (!out.empty() && out.back() == ' ') out.pop_back();
            out += ' ';
        } else if (c != ' ' || out.empty() || out.back() != ' ') {
            out += c;
        }
    }
    return out;
}

void write_code(std::string& out, const std::string& code) {
    out += "```cpp\n" + code + "\n```\n\n";
}

void write_text(std::string& out, const std::string& text) {
    if (!text.empty()) out += as_markdown(text) + "\n\n";
}

void write_all(std::string& out, const std::vector<declaration>& all, bool are_members);

void write_type(std::string& out, const declaration& of, bool is_member) {
    out += (is_member ? "#### " : "### ") + of.name + "\n\n";
    const bool is_plain = of.code == "struct " + of.name || of.code == "class " + of.name;
    if (!is_plain) write_code(out, of.code + ";");
    write_text(out, of.documentation);
    write_all(out, of.members, true);
}

void write_enumeration(std::string& out, const declaration& of, bool is_member) {
    out += (is_member ? "#### " : "### ") + of.name + "\n\n";
    write_text(out, of.documentation);
    write_code(out, of.code);
}

void write_item(std::string& out, const declaration& of) {
    std::string code = in_one_line(of.code);
    code.pop_back(); // ;
    out += "- `" + code + "`";
    if (!of.documentation.empty()) out += ": " + in_one_line(as_markdown(of.documentation));
    out += '\n';
}

/// Functions without a text of their own belong to the one before them, as in the header.
void write_all(std::string& out, const std::vector<declaration>& all, bool are_members) {
    bool in_list = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const declaration& each = all[i];
        const bool is_item = each.what == declaration::kind::object;
        if (in_list && !is_item) out += '\n';
        in_list = is_item;
        switch (each.what) {
        case declaration::kind::note: write_text(out, each.documentation); break;
        case declaration::kind::object: write_item(out, each); break;
        case declaration::kind::type: write_type(out, each, are_members); break;
        case declaration::kind::enumeration: write_enumeration(out, each, are_members); break;
        case declaration::kind::function: {
            std::string code = each.code;
            while (i + 1 < all.size() && all[i + 1].what == declaration::kind::function &&
                   all[i + 1].documentation.empty())
                code += '\n' + all[++i].code;
            write_code(out, code);
            write_text(out, each.documentation);
        }
        }
    }
    if (in_list) out += '\n';
}

} // namespace

std::string reference_page(const std::vector<public_header>& headers) {
    std::string out =
        "# C++ reference\n\n"
        "What the public headers declare, in namespace `heddle`. "
        "`#include <heddle/heddle.hpp>` includes all of it. This page is made from "
        "the headers: `build/dev/bin/heddle_api_reference . --write`.\n\n";
    for (const public_header& header : headers) {
        if (std::all_of(
                header.declarations.begin(), header.declarations.end(),
                [](const declaration& each) { return each.what == declaration::kind::note; }))
            continue;
        out += "## " + header.path + "\n\n";
        write_text(out, header.purpose);
        write_all(out, header.declarations, false);
    }
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
}

} // namespace heddle::checks
