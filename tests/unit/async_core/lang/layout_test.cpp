#include <heddle/lang/layout.hpp>

#include <heddle/lang/errors.hpp>
#include <heddle/lang/printer.hpp>

#include "layout_sources.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::lang {
namespace {

std::string laid_out(std::string_view text, std::size_t width = 100) {
    layout_options options;
    options.width = width;
    auto result = lay_out(text, 0, options);
    if (!result) return "error: " + result.error().message();
    return *std::move(result);
}

/// Empty when all is well, else what is wrong.
std::string broken_promise(std::string_view text, std::size_t width) {
    const heap_owner memory(heap::create());
    memory->set_limit(std::size_t{1} << 32);
    const auto before = read_all(*memory, text);
    layout_options options;
    options.width = width;
    const auto once = lay_out(text, 0, options);
    if (once.has_error() != before.has_error()) return "the reader disagrees";
    if (!once) return {};
    const auto after = read_all(*memory, *once);
    if (!after) return "cannot be read any more: " + after.error().message() + "\n" + *once;
    if (before->size() != after->size()) return "another number of expressions\n" + *once;
    print_options all;
    all.max_depth = 20'000;
    for (std::size_t i = 0; i < before->size(); ++i) {
        const value& a = (*before)[i].content;
        const value& b = (*after)[i].content;
        if (print_value(a, all) != print_value(b, all)) return "other data\n" + *once;
    }
    if (!same_but_for_blanks(text, *once)) return "other tokens or comments\n" + *once;
    const auto twice = lay_out(*once, 0, options);
    if (!twice) return "cannot be laid out again";
    if (*twice != *once) return "changes again\n--- once\n" + *once + "--- twice\n" + *twice;
    return {};
}

struct layout_case {
    const char* source;
    const char* expected;
    std::size_t width = 40;
};

void check(std::initializer_list<layout_case> cases) {
    for (const layout_case& each : cases) {
        EXPECT_EQ(laid_out(each.source, each.width), each.expected) << each.source;
        EXPECT_EQ(broken_promise(each.source, each.width), "") << each.source;
    }
}

TEST(layout, one_line_when_it_fits) {
    check({{"", ""},
           {"  \n\n ", ""},
           {"(  +   1\n   2 )", "(+ 1 2)\n"},
           {"(f\n a\n b)", "(f a b)\n"},
           {"a b", "a\nb\n"},
           {"( )", "()\n"},
           {"[ a  b ]", "[a b]\n"},
           {"' x ` ( a , b ,@ c )", "'x\n`(a ,b ,@c)\n"},
           {", @x ,@x", ", @x\n,@x\n"},
           {"(quote x) 'x", "(quote x)\n'x\n"},
           {"(f 1.50 .5 -2e3 \"\\u0041\\n\" #t)", "(f 1.50 .5 -2e3 \"\\u0041\\n\" #t)\n"}});
}

TEST(layout, arguments_are_below_the_first) {
    check({{"(string-append \"the first text\" name (f 1) \"and another\")",
            "(string-append \"the first text\"\n"
            "               name\n"
            "               (f 1)\n"
            "               \"and another\")\n"},
           {"(format \"{} of {} and {}\" first-name second-name 3)",
            "(format \"{} of {} and {}\" first-name\n"
            "        second-name 3)\n"},
           {"(flatten\n (map (lambda (x) (f x)) (g a-long-name)))",
            "(flatten\n  (map (lambda (x) (f x))\n       (g a-long-name)))\n"},
           {"(a-function-with-a-long-name (another-one-of-them argument argument))",
            "(a-function-with-a-long-name\n"
            "  (another-one-of-them argument\n"
            "                       argument))\n"},
           {"(if (a-rather-long-condition? x) (then-this x) (else-that x))",
            "(if (a-rather-long-condition? x)\n"
            "    (then-this x)\n"
            "    (else-that x))\n"},
           {"(if a b\nc)", "(if a\n    b\n    c)\n"}});
}

TEST(layout, bodies_are_indented_by_two) {
    check({{"(define (f x) (g x))", "(define (f x) (g x))\n"},
           {"(define (f x)\n(g x))", "(define (f x)\n  (g x))\n"},
           {"(define\n(f x) (g x))", "(define (f x) (g x))\n"},
           {"(lambda (x) (first-thing x) (second-thing x))",
            "(lambda (x)\n  (first-thing x)\n  (second-thing x))\n"},
           {"(let ((a 1)\n(b 2)) (+ a b))", "(let ((a 1)\n      (b 2))\n  (+ a b))\n"},
           {"(let next ((i 0)) (if (< i 10) (next (+ i 1)) i))",
            "(let next ((i 0))\n  (if (< i 10) (next (+ i 1)) i))\n"},
           {"(when ok\n(f))", "(when ok\n  (f))\n"},
           {"(try (f)\n(catch (e) 1)\n(finally (g)))",
            "(try (f)\n  (catch (e) 1)\n  (finally (g)))\n"},
           {"(try (f) (g)\n(catch (e) 1))", "(try\n  (f)\n  (g)\n  (catch (e) 1))\n"},
           {"(progn (a)\n(b))", "(progn (a)\n       (b))\n"},
           {"(progn\n(a) (b))", "(progn\n  (a)\n  (b))\n"},
           {"(with ((concurrency 4) (timeout 10)) (run-everything))",
            "(with ((concurrency 4) (timeout 10))\n  (run-everything))\n"},
           {"(director-evaluator-loop (max-iterations 3) (director f))",
            "(director-evaluator-loop\n  (max-iterations 3)\n  (director f))\n"}});
}

TEST(layout, clauses_are_below_each_other) {
    check({{"(cond (a 1)\n(else 2))", "(cond (a 1)\n      (else 2))\n"},
           {"(cond ((= n 0) (first-thing n) (second-thing n)) (else 2))",
            "(cond ((= n 0)\n       (first-thing n)\n       (second-thing n))\n      (else 2))\n"},
           {"(case x (1 \"one\") ((2 3) \"two or three\") (else 4))",
            "(case x\n  (1 \"one\")\n  ((2 3) \"two or three\")\n  (else 4))\n"}});
}

TEST(layout, data_keeps_the_lines_of_its_author) {
    check({{"(dict \"a\" 1\n\"b\" 2)", "(dict \"a\" 1\n      \"b\" 2)\n"},
           {"(dict \"first name\" 1 \"second name\" 2 \"c\" 3)",
            "(dict \"first name\" 1\n      \"second name\" 2\n      \"c\" 3)\n"},
           {"'(1 0\n  0 1)", "'(1 0\n  0 1)\n"},
           {"(list 1 0\n  0 1)", "(list 1 0\n      0 1)\n"},
           {"'(\"alpha\" \"beta\" \"gamma\" \"delta\" \"epsilon\")",
            "'(\"alpha\" \"beta\" \"gamma\" \"delta\"\n  \"epsilon\")\n"},
           {"'((alpha beta) (gamma delta) (epsilon zeta))",
            "'((alpha beta)\n  (gamma delta)\n  (epsilon zeta))\n"}});
}

TEST(layout, strings_keep_their_lines) {
    check({{"(define text \"one\n  two\")", "(define text \"one\n  two\")\n"},
           {"(f \"one\ntwo\" 3)", "(f \"one\ntwo\"\n   3)\n"}});
}

TEST(layout, comments_stay_where_they_belong) {
    check({{"; a\n\n\n\n;; b  \n(f)   ; c", "; a\n\n;; b\n(f) ; c\n"},
           {"(f ; why\n a)", "(f ; why\n  a)\n"},
           {"(f a ; why\n b)", "(f a ; why\n   b)\n"},
           {"(f a\n ; own line\n b)", "(f a\n   ; own line\n   b)\n"},
           {"(f a ; last\n)", "(f a ; last\n)\n"},
           {"(f a #| x |# b)", "(f a #| x |# b)\n"},
           {"#| one\n  two |# (f)", "#| one\n  two |# (f)\n"},
           {"(f #; (g  1) a)", "(f #;(g 1) a)\n"},
           {"(f a\n #;b\n c)", "(f a\n   #;b\n   c)\n"},
           {"'; x\ny", "'; x\n y\n"},
           {"(define (f x)\n\n\n  ; about\n  (g x))", "(define (f x)\n\n  ; about\n  (g x))\n"},
           {"(; first\n a b)", "(; first\n a b)\n"}});
}

TEST(layout, line_ends_of_windows_become_plain) {
    EXPECT_EQ(laid_out("; a\r\n(f\r\n x)\r\n"), "; a\n(f x)\n");
    EXPECT_EQ(laid_out("(print 1)\r; c\r\r(print 2)\r"), "(print 1)\n; c\n\n(print 2)\n");
    check({{"(f a ; why\r b)\r\n\r\n(g)", "(f a ; why\n   b)\n\n(g)\n"}});
}

TEST(layout, refuses_what_the_reader_refuses_with_its_place) {
    const auto result = lay_out("(f\n(g", 1);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), errc::syntax);
    EXPECT_EQ(result.error().info().span.begin, 4U);
    EXPECT_NE(laid_out("\"").find("unterminated string"), std::string::npos);
    EXPECT_NE(laid_out("\xff").find("invalid UTF-8"), std::string::npos);
}

TEST(layout, deep_nesting_is_no_depth_of_calls) {
    for (const char* head : {"(", "(f ", "(progn\n", "(let ((x ", "[", "(if a ", "'("}) {
        const std::string_view opening(head);
        std::string text;
        const auto brackets = static_cast<std::size_t>(std::count_if(
            opening.begin(), opening.end(), [](char c) { return c == '(' || c == '['; }));
        const std::size_t levels = 9'000 / (brackets + (opening.front() == '\'' ? 1 : 0));
        for (std::size_t i = 0; i < levels; ++i) text += opening;
        text += "1";
        for (std::size_t i = 0; i < levels; ++i) {
            text += std::string(brackets, opening.back() == '[' ? ']' : ')');
        }
        EXPECT_EQ(broken_promise(text, 100), "") << head;
        EXPECT_LT(laid_out(text).size(), std::size_t{8} * 1024 * 1024) << head;
    }
}

class layout_promise : public ::testing::TestWithParam<std::size_t> {};

TEST_P(layout_promise, holds_for_every_source_of_the_repository) {
    const auto sources = repository_sources();
    EXPECT_GE(sources.size(), 100U);
    for (const auto& [name, text] : sources)
        EXPECT_EQ(broken_promise(text, GetParam()), "") << name;
}

TEST_P(layout_promise, holds_for_every_conformance_case) {
    const auto sources = conformance_sources();
    EXPECT_GE(sources.size(), 50U); // the rest is in tests/language
    for (const auto& [name, text] : sources)
        EXPECT_EQ(broken_promise(text, GetParam()), "") << name;
}

TEST_P(layout_promise, holds_for_generated_programs) {
    for (std::uint32_t seed = 0; seed < 3000; ++seed) {
        const std::string text = generated_source(seed);
        const std::string wrong = broken_promise(text, GetParam());
        ASSERT_EQ(wrong, "") << "seed " << seed << "\n--- source\n" << text;
    }
}

INSTANTIATE_TEST_SUITE_P(widths, layout_promise, ::testing::Values(100, 60, 30, 12));

TEST(layout, the_sources_of_the_repository_are_laid_out) {
    std::size_t seen = 0;
    for (const auto& [name, text] : repository_sources()) {
        if (name.find("fuzz/corpus/") != std::string::npos) continue; // odd on purpose
        ++seen;
        EXPECT_EQ(laid_out(text), text) << name << ": mend with heddle fmt " << name;
    }
    EXPECT_GE(seen, 100U);
}

} // namespace
} // namespace heddle::lang
