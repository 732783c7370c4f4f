#include "layout_sources.hpp"
#include "test_paths.hpp"

#include <heddle/lang/heap.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string_view>

namespace heddle::lang {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Makes a text up, part by part. Every part is followed by white space or a comment.
class generator {
public:
    explicit generator(std::uint32_t seed) : random_(seed) {}

    std::string text() {
        const std::size_t count = below(4);
        for (std::size_t i = 0; i <= count; ++i) {
            gap();
            expression(5);
        }
        gap();
        return std::move(out_);
    }

private:
    std::size_t below(std::size_t n) { return random_() % n; }

    template <std::size_t N>
    const char* any(const char* const (&words)[N]) {
        return words[below(N)];
    }

    void gap() {
        static const char* const blanks[] = {
            " ", " ", " ", " ", " ", " ", "\n", "\n", "\n\n", "\n\n\n", "\t", " \r\n ", "\xc2\xa0"};
        static const char* const comments[] = {"; note\n",
                                               ";; a longer note ; with marks |# \n\n",
                                               "#| block |#",
                                               "#| two\n lines |# ",
                                               "#| nested #| one |# |# ",
                                               "#;dropped ",
                                               "#;(dropped list) ",
                                               "#; #;two drops ",
                                               ";\n",
                                               "#;'(a ; inside\n b) "};
        out_ += any(blanks);
        if (below(12) == 0) {
            out_ += any(comments);
            out_ += any(blanks);
        }
    }

    void expression(std::size_t depth) {
        static const char* const leaves[] = {"x",
                                             "n",
                                             "1",
                                             "2.50",
                                             "-3",
                                             "\"text\"",
                                             "\"two\nlines\"",
                                             "\"a longer text with words\"",
                                             "nil",
                                             "#t",
                                             "a-rather-long-name-of-something",
                                             "user:plan",
                                             "@x",
                                             "\"\\u00e9\\\"\"",
                                             "\"\xc3\xa9\xc3\xa9\"",
                                             "set!",
                                             "...",
                                             "else"};
        static const char* const heads[] = {"define",
                                            "lambda",
                                            "let",
                                            "let*",
                                            "cond",
                                            "case",
                                            "if",
                                            "when",
                                            "try",
                                            "catch",
                                            "finally",
                                            "progn",
                                            "dict",
                                            "list",
                                            "f",
                                            "string-append",
                                            "defatom",
                                            "defmacro",
                                            "director-evaluator-loop",
                                            "with",
                                            "quote",
                                            "quasiquote",
                                            "and",
                                            "map",
                                            "parallel",
                                            "timeout",
                                            "a-rather-long-head-of-a-call",
                                            "else",
                                            "instructions"};
        if (depth == 0 || below(3) == 0) {
            out_ += any(leaves);
            return;
        }
        if (below(7) == 0) {
            static const char* const marks[] = {"'", "`", ",", ",@", ", ", "'#| c |#", "'; c\n"};
            out_ += any(marks);
            return expression(depth - 1);
        }
        const bool square = below(8) == 0;
        out_ += square ? "[" : "(";
        if (below(5) == 0) gap();
        const bool headed = below(4) != 0;
        if (headed) out_ += any(heads);
        const std::size_t count = below(below(6) == 0 ? 14 : 5);
        for (std::size_t i = 0; i < count; ++i) {
            if (headed || i != 0) gap();
            expression(depth - 1);
        }
        if (below(4) == 0) gap();
        out_ += square ? "]" : ")";
    }

    std::mt19937 random_;
    std::string out_;
};

} // namespace

std::vector<named_source> repository_sources() {
    std::vector<named_source> sources;
    const fs::path root(heddle::test_paths::source_folder());
    for (const char* folder :
         {"async_core", "cli", "docs", "examples", "io", "providers", "tests"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const auto kind = entry.path().extension();
            if (!entry.is_regular_file() || (kind != ".heddle" && kind != ".sexp")) continue;
            sources.emplace_back(entry.path().string(), text_of(entry.path()));
        }
    }
    return sources;
}

std::vector<named_source> conformance_sources() {
    std::vector<named_source> sources;
    const heap_owner memory(heap::create());
    for (const auto& entry :
         fs::directory_iterator(fs::path(heddle::test_paths::data_folder()) / "conformance")) {
        std::ifstream lines(entry.path());
        for (std::string line; std::getline(lines, line);) {
            const auto read = json_to_value(*memory, line);
            if (!read) continue;
            const value* id = map_find(*read, "id");
            const value* source = map_find(*read, "source");
            if (!id || !source || !source->is(kind::string)) continue;
            sources.emplace_back(std::string(string_bytes(*id)),
                                 std::string(string_bytes(*source)));
        }
    }
    return sources;
}

std::string generated_source(std::uint32_t seed) { return generator(seed).text(); }

} // namespace heddle::lang
