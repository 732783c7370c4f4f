#include "memory/walk/file_text.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace heddle::memory {

namespace {

constexpr std::size_t looked_at = 8 * 1024;
constexpr std::size_t max_line_length = 200;

struct type_row {
    std::string_view ending;
    std::string_view type;
};

// Sorted by ending.
constexpr std::array<type_row, 62> types{{{"adoc", "text/asciidoc"},
                                          {"asm", "text/x-asm"},
                                          {"awk", "text/x-awk"},
                                          {"bash", "text/x-shellscript"},
                                          {"bat", "text/x-bat"},
                                          {"bib", "text/x-bibtex"},
                                          {"c", "text/x-c"},
                                          {"cc", "text/x-c++"},
                                          {"cfg", "text/x-ini"},
                                          {"clj", "text/x-clojure"},
                                          {"cmake", "text/x-cmake"},
                                          {"conf", "text/x-ini"},
                                          {"cpp", "text/x-c++"},
                                          {"cs", "text/x-csharp"},
                                          {"css", "text/css"},
                                          {"csv", "text/csv"},
                                          {"cxx", "text/x-c++"},
                                          {"dart", "text/x-dart"},
                                          {"diff", "text/x-diff"},
                                          {"el", "text/x-lisp"},
                                          {"erl", "text/x-erlang"},
                                          {"ex", "text/x-elixir"},
                                          {"exs", "text/x-elixir"},
                                          {"go", "text/x-go"},
                                          {"h", "text/x-c"},
                                          {"heddle", "text/x-heddle"},
                                          {"hh", "text/x-c++"},
                                          {"hpp", "text/x-c++"},
                                          {"hs", "text/x-haskell"},
                                          {"html", "text/html"},
                                          {"ini", "text/x-ini"},
                                          {"java", "text/x-java"},
                                          {"jl", "text/x-julia"},
                                          {"js", "text/javascript"},
                                          {"json", "application/json"},
                                          {"jsx", "text/javascript"},
                                          {"kt", "text/x-kotlin"},
                                          {"lisp", "text/x-lisp"},
                                          {"lua", "text/x-lua"},
                                          {"m", "text/x-objectivec"},
                                          {"md", "text/markdown"},
                                          {"ml", "text/x-ocaml"},
                                          {"php", "text/x-php"},
                                          {"pl", "text/x-perl"},
                                          {"proto", "text/x-protobuf"},
                                          {"py", "text/x-python"},
                                          {"r", "text/x-r"},
                                          {"rb", "text/x-ruby"},
                                          {"rs", "text/x-rust"},
                                          {"rst", "text/x-rst"},
                                          {"scala", "text/x-scala"},
                                          {"scm", "text/x-scheme"},
                                          {"sh", "text/x-shellscript"},
                                          {"sql", "text/x-sql"},
                                          {"swift", "text/x-swift"},
                                          {"tex", "text/x-tex"},
                                          {"toml", "text/x-toml"},
                                          {"ts", "text/x-typescript"},
                                          {"tsx", "text/x-typescript"},
                                          {"xml", "text/xml"},
                                          {"yaml", "text/x-yaml"},
                                          {"yml", "text/x-yaml"}}};

[[nodiscard]] std::string_view name_of(std::string_view path) noexcept {
    return path.substr(path.rfind('/') + 1);
}

/// Without the marks of a comment or a heading and white space at the ends.
[[nodiscard]] std::string_view bare(std::string_view line) noexcept {
    constexpr std::string_view marks = " \t\r\f\v/*#;-!<>=\"'%{}()[]~`+.|";
    const std::size_t from = line.find_first_not_of(marks);
    if (from == std::string_view::npos) return {};
    return line.substr(from, line.find_last_not_of(" \t\r*/-=#<>") + 1 - from);
}

[[nodiscard]] bool says_something(std::string_view line) noexcept {
    for (const std::string_view empty_talk :
         {"pragma ", "include ", "usr/bin/",    "import ", "from ",     "use strict", "ifndef ",
          "define ", "bin/",     "package ",    "using ",  "vim:",      "-*-",        "coding:",
          "doctype", "DOCTYPE",  "xml version", "SPDX",    "Copyright", "copyright"}) {
        if (line.starts_with(empty_talk)) return false;
    }
    const auto letters = std::count_if(
        line.begin(), line.end(), [](char c) { return ascii::is_letter(c) || (c & 0x80) != 0; });
    return letters >= 3;
}

} // namespace

bool is_binary(std::string_view bytes) noexcept {
    const std::string_view head = bytes.substr(0, looked_at);
    if (head.find('\0') != std::string_view::npos) return true;
    const std::size_t cut = head.size() < bytes.size() ? utf8::incomplete_end(head) : 0;
    return !utf8::is_valid(head.substr(0, head.size() - cut));
}

std::string_view content_type_of(std::string_view path) noexcept {
    const std::string_view name = name_of(path);
    if (name == "CMakeLists.txt") return "text/x-cmake";
    if (name == "Makefile" || name == "makefile" || name == "GNUmakefile") return "text/x-makefile";
    if (name == "Dockerfile") return "text/x-dockerfile";
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return "text/plain";
    const std::string_view ending = name.substr(dot + 1);
    const auto found = std::lower_bound(
        types.begin(), types.end(), ending,
        [](const type_row& row, std::string_view text) { return row.ending < text; });
    return found != types.end() && found->ending == ending ? found->type : "text/plain";
}

std::string describe_text(std::string_view path, std::string_view text) {
    std::string out(name_of(path));
    out += " (";
    out += content_type_of(path);
    out += ")";
    // What lies beyond was not looked at for what it is.
    std::string_view rest = text.substr(0, looked_at);
    rest.remove_suffix(utf8::incomplete_end(rest));
    rest = utf8::skip_byte_order_mark(rest);
    for (int lines = 0; !rest.empty() && lines < 40; ++lines) {
        const std::size_t end = rest.find('\n');
        const std::string_view line = bare(rest.substr(0, end));
        if (says_something(line)) {
            out += ": ";
            out += utf8::prefix(line, max_line_length);
            break;
        }
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    return out;
}

} // namespace heddle::memory
