#include "rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace heddle::checks {
namespace {

// Soft caps: beyond them there is usually a second room in the file.
constexpr std::size_t header_cap = 250;
constexpr std::size_t source_cap = 500;

bool has_word(std::string_view line, std::string_view word) {
    const auto letter = [&](std::size_t i) {
        return i < line.size() && std::isalnum(static_cast<unsigned char>(line[i])) != 0;
    };
    for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
    }
    return false;
}

void check_left_for_later(const source_file& file, std::vector<finding>& findings) {
    const auto lines = comment_lines(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        for (const std::string_view word : {"TODO", "FIXME", "XXX"}) {
            if (!has_word(lines[i], word)) continue;
            findings.push_back({file.path, static_cast<int>(i + 1), "left-for-later",
                                std::string(word) + " in a comment",
                                "do it now, or describe in words what does not work yet"});
        }
    }
}

// A path into somebody's home or into this checkout works on one machine only.
void check_machine_paths(const source_file& file, const std::filesystem::path& root,
                         std::vector<finding>& findings) {
    const auto checkout = root.generic_string();
    const auto lines = split_lines(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string found;
        for (const std::string_view home : {"/home/", "/Users/"}) {
            const auto at = lines[i].find(home);
            const auto after = at + home.size();
            if (at != std::string_view::npos && after < lines[i].size() &&
                std::islower(static_cast<unsigned char>(lines[i][after])) != 0) {
                found = home;
            }
        }
        if (checkout.size() > 4 && lines[i].find(checkout + "/") != std::string_view::npos)
            found = checkout;
        if (found.empty()) continue;
        findings.push_back({file.path, static_cast<int>(i + 1), "machine-path",
                            "a path below " + found + " of one machine",
                            "make it relative to the source tree, or a variable"});
    }
}

/// The arguments of a call, up to the bracket that closes it; `from` is behind the open one.
std::string_view arguments_at(std::string_view code, std::size_t from) {
    int depth = 1;
    for (std::size_t i = from; i < code.size(); ++i) {
        if (code[i] == '(') ++depth;
        if (code[i] == ')' && --depth == 0) return code.substr(from, i - from);
    }
    return {};
}

/// True for a number of two digits or more, and for a name of a bound.
bool is_bound(std::string_view argument) {
    const bool number =
        !argument.empty() && std::all_of(argument.begin(), argument.end(), [](unsigned char c) {
            return std::isdigit(c) != 0 || std::isspace(c) != 0;
        });
    const auto digits = std::count_if(argument.begin(), argument.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number) return digits > 1;
    if (argument.find("std::max") != std::string_view::npos) return false; // it grows
    const auto words = {"longest", "max", "limit", "shown", "kept"};
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return has_word(argument, word); });
}

// A text that is cut at a byte may end inside a character: it is not UTF-8 any more, and whoever
// takes it on refuses it or loses more than the end. base/utf8 is where it is done right.
void check_cut_text(const source_file& file, std::vector<finding>& findings) {
    constexpr std::array<std::string_view, 6> libraries{"async_core", "cli",       "embed",
                                                        "io",         "providers", "setup"};
    if (!file.is_cpp() || file.path.find("base/utf8.") != std::string::npos ||
        std::find(libraries.begin(), libraries.end(), file.library()) == libraries.end()) {
        return;
    }
    const std::string_view code = file.code;
    for (const std::string_view call : {".substr(0,", ".resize("}) {
        for (auto at = code.find(call); at != std::string_view::npos;
             at = code.find(call, at + 1)) {
            const auto argument = arguments_at(code, at + call.size());
            if (!is_bound(argument)) continue;
            const auto line =
                1 + std::count(code.begin(), code.begin() + static_cast<long>(at), '\n');
            findings.push_back({file.path, static_cast<int>(line), "cut-text",
                                "cuts at a byte, perhaps inside a character",
                                "use utf8::prefix, utf8::shortened or utf8::shorten "
                                "(heddle/base/utf8.hpp); for what is not a text, say so"});
        }
    }
}

// What the program prints as JSON goes through json_line, which makes it UTF-8 without controls:
// names of files and texts of services may hold any bytes.
void check_raw_json(const source_file& file, std::vector<finding>& findings) {
    const bool prints = file.path.find("cli/src/") != std::string::npos ||
                        file.path.find("setup/src/") != std::string::npos;
    if (!file.is_cpp() || !prints || file.path.ends_with("setup/src/json_line.cpp")) return;
    const std::string_view code = file.code;
    constexpr std::string_view call = "json::serialize(";
    for (auto at = code.find(call); at != std::string_view::npos; at = code.find(call, at + 1)) {
        const auto line = 1 + std::count(code.begin(), code.begin() + static_cast<long>(at), '\n');
        findings.push_back({file.path, static_cast<int>(line), "raw-json",
                            "writes JSON that may be no UTF-8",
                            "use json_line (heddle/setup/json_line.hpp); for "
                            "what is not printed, say so"});
    }
}

void check_length(const source_file& file, std::vector<finding>& findings) {
    if (!file.is_cpp()) return;
    const auto count = split_lines(file.text).size();
    const auto cap = file.is_header() ? header_cap : source_cap;
    if (count <= cap) return;
    findings.push_back({file.path, 1, "length",
                        std::to_string(count) + " lines, more than " + std::to_string(cap),
                        "look for a second subject in it", true});
}

} // namespace

void check_text(const source_file& file, const std::filesystem::path& root,
                std::vector<finding>& findings) {
    check_left_for_later(file, findings);
    check_machine_paths(file, root, findings);
    check_cut_text(file, findings);
    check_raw_json(file, findings);
    check_length(file, findings);
}

} // namespace heddle::checks
