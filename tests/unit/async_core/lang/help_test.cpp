// Docstrings, describe, (help …), and the table of forms.
#include "lang_harness.hpp"

#include "lang/compile/special_form.hpp"

#include <heddle/lang/help.hpp>
#include <heddle/lang/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace heddle::lang::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(docstring, is_taken_apart) {
    const docstring read = parse_docstring(
        "Adds things. It takes\n   any? number\n   of them.\n\n"
        "   Second paragraph.\n\n"
        "   (add 1 2) => 3\n   (add\n     1) => 1");
    EXPECT_EQ(read.summary, "Adds things.");
    EXPECT_EQ(read.details, "It takes any? number of them.\n\nSecond paragraph.");
    EXPECT_THAT(read.examples, ElementsAre("(add 1 2) => 3", "(add\n1) => 1"));
}

TEST(docstring, with_a_bracket_in_its_prose_keeps_it) {
    const docstring read = parse_docstring("One\n(see above), and then.\n(f) => 1");
    EXPECT_EQ(read.summary, "One (see above), and then.");
    EXPECT_THAT(read.examples, ElementsAre("(f) => 1"));
    EXPECT_EQ(parse_docstring("").summary, "");
    EXPECT_EQ(parse_docstring("Is it any? or all? Yes").summary, "Is it any? or all?");
}

TEST(docstring, of_many_brackets_is_read_quickly) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += "(\n";
    EXPECT_THAT(parse_docstring(text).examples, IsEmpty());
}

TEST(docstring, is_not_evaluated_and_a_lone_string_is_a_value) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(define (f x) \"Doubles x.\" (* 2 x)) (f 4)"), "8");
    EXPECT_EQ(harness.shown("(define (g) \"value\") (g)"), "\"value\"");
    EXPECT_EQ(harness.shown("((lambda () \"doc\" 1))"), "1");
    EXPECT_EQ(harness.shown("(define h (lambda () \"Doc of h.\" \"value\")) (h)"), "\"value\"");
    EXPECT_EQ(describe(harness.harness, "f")->summary, "Doubles x.");
    EXPECT_EQ(describe(harness.harness, "g")->summary, "");
    EXPECT_EQ(describe(harness.harness, "h")->summary, "Doc of h.");
}

TEST(describe, knows_what_a_name_is) {
    lang_harness harness;
    (void)harness.run(
        "(define (f a &optional b . c) \"Does f.\" 1) (define n 42)"
        "(defmacro m (x) \"Is x.\" x)");
    const auto kind = [&](const char* name) { return describe(harness.harness, name)->kind; };
    EXPECT_EQ(kind("if"), help_kind::special_form);
    EXPECT_EQ(kind("+"), help_kind::builtin);
    EXPECT_EQ(kind("pause"), help_kind::builtin);
    EXPECT_EQ(kind("map"), help_kind::library_function);
    EXPECT_EQ(kind("f"), help_kind::function);
    EXPECT_EQ(kind("m"), help_kind::macro);
    EXPECT_EQ(kind("n"), help_kind::value);
    EXPECT_EQ(describe(harness.harness, "f")->usage, "(f a [b] c…)");
    EXPECT_EQ(describe(harness.harness, "m")->summary, "Is x.");
    EXPECT_EQ(describe(harness.harness, "n")->summary, "An integer: 42");
}

TEST(describe, prefers_what_the_program_defines) {
    lang_harness harness;
    (void)harness.run("(define (map x) \"Mine.\" x)");
    EXPECT_EQ(describe(harness.harness, "map")->summary, "Mine.");
    EXPECT_THAT(describe(harness.harness, "map", help_reach::language)->summary,
                StartsWith("Applies f"));
}

TEST(describe, of_an_unknown_name_suggests) {
    lang_harness harness;
    const auto found = describe(harness.harness, "fliter");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message(), "help: there is no entry for 'fliter'");
    EXPECT_THAT(found.error().info().hint, HasSubstr("'filter'"));
    EXPECT_FALSE(describe(harness.harness, ""));
    EXPECT_FALSE(describe(harness.harness, "%map"));
}

TEST(help, is_text_with_usage_summary_and_examples) {
    lang_harness harness;
    const auto text = [&](const std::string& program) {
        const outcome ended = harness.run(program);
        if (ended.kind != outcome_kind::done) return ended.failure->message();
        return std::string(string_bytes(ended.result));
    };
    EXPECT_EQ(text("(help 'cons)"), text("(help \"cons\")"));
    EXPECT_EQ(text("(help 'cons)"), text("(help cons)"));
    EXPECT_THAT(text("(help 'cons)"), StartsWith("(cons x xs)\n"));
    EXPECT_THAT(text("(help 'cons)"), HasSubstr(" => "));
    EXPECT_THAT(text("(help map)"), StartsWith("(map f items more…)\nApplies f to every element"));
    EXPECT_THAT(text("(help 'let)"), StartsWith("(let ((name value)…) body…)\n(let loop-name"));
    EXPECT_EQ(text("(define (f x) \"Returns x.\\n(f 1) => 1\" x)\n(help f)"),
              "(f x)\nReturns x.\n\n(f 1) => 1\n\nfunction defined at test:1\n");
    EXPECT_EQ(text("(help (lambda (x) x))"),
              "(lambda x)\nWithout documentation.\n\nfunction defined at test:1\n");
    EXPECT_EQ(text("(help 'nothing-like-it)"), "help: there is no entry for 'nothing-like-it'");
    EXPECT_EQ(text("(help 1)"), "help: argument 1 must be a name or a function, not the integer 1");
}

TEST(help, without_a_name_lists_all_names) {
    lang_harness harness;
    const outcome ended = harness.run("(define (mine) 1) (help)");
    ASSERT_EQ(ended.kind, outcome_kind::done);
    const std::string text(string_bytes(ended.result));
    for (const char* name : {" if", " cons", " map", " mine", " parallel", "Special forms"})
        EXPECT_THAT(text, HasSubstr(name));
    EXPECT_THAT(text, Not(HasSubstr(" %")));
}

TEST(help, in_a_sandbox_covers_the_language_alone) {
    lang_harness harness;
    (void)harness.run("(define (secret-helper) \"Hidden.\" 1)");
    EXPECT_THAT(harness.shown("(sandbox ((steps 10000)) (eval '(help 'secret-helper)))"),
                StartsWith("UnboundSymbolError"));
    EXPECT_THAT(harness.shown("(sandbox ((steps 10000)) (eval '(help)))"),
                Not(HasSubstr("secret-helper")));
    EXPECT_THAT(harness.shown("(sandbox ((steps 10000)) (eval '(help 'map)))"),
                HasSubstr("Applies f"));
}

TEST(special_forms, are_documented_once_unless_they_are_internal) {
    std::set<std::string_view> documented;
    for (const special_form& row : documented_forms())
        EXPECT_TRUE(documented.insert(row.name).second) << row.name << " has two rows";
    std::string_view before;
    for (const special_form& row : special_forms()) {
        EXPECT_LT(before, row.name);
        before = row.name;
        EXPECT_NE(row.analyse, nullptr) << row.name;
        const bool internal = row.name.front() == '%';
        EXPECT_NE(internal, documented.contains(row.name)) << row.name;
        EXPECT_EQ(internal, row.usage.empty() || row.summary.empty()) << row.name;
    }
}

} // namespace
} // namespace heddle::lang::testing
