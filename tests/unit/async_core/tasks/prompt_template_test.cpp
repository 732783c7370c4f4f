#include "tasks_testing.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/list.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using testing::reading;

class prompt_template_test : public ::testing::Test {
protected:
    /// Filled with `a` (and nothing else), or the message of the error.
    std::string fill(const std::string& text, const std::string& json) {
        auto code = prompt_template::compile(text, &names_);
        if (!code) return "compile: " + code.error().message();
        const bound_input input{"a", text_.json(json), true};
        std::string out;
        if (auto done = code->fill(out, std::span(&input, 1)); !done) {
            return testing::reason_of(done.error()) + ": " + done.error().message();
        }
        return out;
    }
    reading text_;
    std::vector<std::string> names_{"a"};
};

TEST_F(prompt_template_test, many_undeclared_inputs_take_time_in_proportion) {
    const auto time_of = [this](std::size_t count) {
        std::vector<std::string> names;
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            names.push_back("a" + std::to_string(i));
            text += "{{" + names.back() + "}}";
        }
        std::vector<bound_input> inputs;
        for (const std::string& name : names) inputs.push_back({name, text_.json("1"), true});
        const auto code = prompt_template::compile(text, nullptr);
        std::string out;
        const std::clock_t began = std::clock();
        EXPECT_TRUE(code->check(inputs));
        EXPECT_TRUE(code->fill(out, inputs));
        const std::clock_t taken = std::clock() - began;
        EXPECT_EQ(out, std::string(count, '1'));
        return static_cast<double>(taken);
    };
    const double once = std::min(time_of(4000), time_of(4000));
    EXPECT_LT(time_of(32'000), 24 * (once + 0.005 * CLOCKS_PER_SEC));
}

TEST_F(prompt_template_test, messages_quote_whole_characters) {
    for (std::size_t before = 0; before < 4; ++before) {
        std::string name(before, 'x');
        for (int i = 0; i < 100; ++i) name += "日";
        for (const std::string& text :
             {"{{" + name + " y}}", "{{a." + name + "}}", "{{a(\"" + name + "}}"}) {
            const std::string reported = fill(text, "{}");
            EXPECT_THAT(reported, HasSubstr("日…")) << text;
            EXPECT_EQ(reported.find(utf8::replacement), std::string::npos) << reported;
        }
    }
}

TEST_F(prompt_template_test, a_call_takes_strings_of_any_characters) {
    auto code = prompt_template::compile(R"({{go(x, "日\n🧵\"", 'it\'s é "q"')}})", nullptr);
    ASSERT_TRUE(code) << code.error().message();
}

TEST_F(prompt_template_test, inserts_strings_as_they_are_and_the_rest_as_json) {
    EXPECT_EQ(fill("<{{a}}>", "\"x \\\"y\\\"\""), "<x \"y\">");
    EXPECT_EQ(fill("<{{ a }}>{{a}}", "-12"), "<-12>-12");
    EXPECT_EQ(fill("{{a}}", "2.5"), "2.5");
    EXPECT_EQ(fill("{{a}}", "[1,\"b\",{\"c\":null}]"), "[1,\"b\",{\"c\":null}]");
    EXPECT_EQ(fill("{{a}}", "null"), "null");
    EXPECT_EQ(fill("{{a}}", "true"), "true");
    EXPECT_EQ(fill("nothing", "1"), "nothing");
    EXPECT_EQ(fill("", "1"), "");
}

TEST_F(prompt_template_test, data_with_shared_parts_is_bounded) {
    const lang::heap_owner memory(lang::heap::create());
    lang::value shared = lang::value::integer(1);
    for (int level = 0; level < 60; ++level) {
        const lang::value twice[] = {shared, shared};
        shared = lang::make_list(*memory, twice);
    }
    const auto code = prompt_template::compile("{{a}}", &names_);
    ASSERT_TRUE(code);
    const bound_input input{"a", shared, true};
    std::string out;
    const auto done = code->fill(out, std::span(&input, 1));
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().message(), HasSubstr("longer than 8388608 bytes"));
}

TEST_F(prompt_template_test, walks_into_maps_and_lists) {
    EXPECT_EQ(fill("{{a.b}}", R"({"b":"x"})"), "x");
    EXPECT_EQ(fill("{{a[1]}}", R"(["x","y"])"), "y");
    EXPECT_EQ(fill("{{a.b[0].c-d}}", R"({"b":[{"c-d":7}]})"), "7");
    EXPECT_EQ(fill("{{a.n}}", R"({"status":"COMPLETE","parsedContent":{"n":4}})"), "4");
    EXPECT_THAT(fill("{{a.b}}", "{}"), HasSubstr("input_validation_failure: {{a.b}}: there is no "
                                                 "field 'b'"));
    EXPECT_THAT(fill("{{a[2]}}", "[1,2]"), HasSubstr("no element 2"));
    EXPECT_THAT(fill("{{a[0]}}", "\"text\""), HasSubstr("no element 0"));
}

TEST_F(prompt_template_test, does_not_substitute_twice) {
    EXPECT_EQ(fill("v: {{a}}", "\"{{a}} \\\\{{\""), "v: {{a}} \\{{");
}

TEST_F(prompt_template_test, an_escape_writes_the_braces) {
    EXPECT_EQ(fill("\\{{a}} {{a}}", "1"), "{{a}} 1");
}

TEST_F(prompt_template_test, refuses_what_is_no_placeholder) {
    EXPECT_THAT(fill("{{}}", "1"), HasSubstr("names no input"));
    EXPECT_THAT(fill("{{a", "1"), HasSubstr("the placeholder {{a has no closing }}"));
    EXPECT_THAT(fill("{{a b}}", "1"), HasSubstr("cannot be read"));
    EXPECT_THAT(fill("{{a} and more", "1"),
                HasSubstr("the placeholder {{a} and more has no closing }}"));
    EXPECT_THAT(fill("{{a[x]}}", "1"), HasSubstr("whole number"));
    EXPECT_THAT(fill("{{a[99999999999]}}", "1"), HasSubstr("whole number"));
    EXPECT_THAT(fill("{{a.}}", "1"), HasSubstr("no field"));
    EXPECT_THAT(fill("{{b}}", "1"), HasSubstr("'b' is not one of the declared inputs"));
    EXPECT_THAT(fill("{{f(a}}", "1"), HasSubstr("not separated by commas"));
    EXPECT_THAT(fill("{{f(a,)}}", "1"), HasSubstr("empty argument"));
    EXPECT_THAT(fill("{{f(k=1, a)}}", "1"), HasSubstr("position after a named"));
    EXPECT_THAT(fill("{{f(k=1, k=2)}}", "1"), HasSubstr("twice"));
    EXPECT_THAT(fill("{{f(1=2)}}", "1"), HasSubstr("whose name is not an identifier"));
    EXPECT_THAT(fill("{{f(1.2.3)}}", "1"), HasSubstr("that is not a number"));
    EXPECT_THAT(fill("{{f(\"x)}}", "1"), HasSubstr("string that is not closed"));
    EXPECT_THAT(fill("{{f(b)}}", "1"), HasSubstr("'b' is not one of the declared inputs"));
    EXPECT_THAT(fill("{{f({{a)}}", "1"), HasSubstr("no {{name}}"));
    EXPECT_THAT(fill("{{f(a) x}}", "1"), HasSubstr("has no closing }}"));
    EXPECT_THAT(fill("{{" + std::string(5000, 'a') + "}}", "1"), HasSubstr("has no closing }}"));
}

TEST_F(prompt_template_test, calls_have_literals_names_and_named_arguments) {
    auto code = prompt_template::compile(
        "<{{user:f(a, \"x, \\\"y\\\" }}\", 'it', -2.5, true, null, {{a}}, k=\"v\", m=a)}}>",
        &names_);
    ASSERT_TRUE(code) << code.error().message();
    ASSERT_EQ(code->calls().size(), 1U);
    const prompt_call& call = code->calls()[0];
    EXPECT_EQ(call.task, "user:f");
    ASSERT_EQ(call.arguments.size(), 9U);
    EXPECT_EQ(call.arguments[0].input, "a");
    EXPECT_EQ(call.arguments[0].input_index, 0);
    EXPECT_EQ(call.arguments[1].json, "\"x, \\\"y\\\" }}\"");
    EXPECT_EQ(call.arguments[2].json, "\"it\"");
    EXPECT_EQ(call.arguments[3].json, "-2.5");
    EXPECT_EQ(call.arguments[4].json, "true");
    EXPECT_EQ(call.arguments[5].json, "null");
    EXPECT_EQ(call.arguments[6].input, "a");
    EXPECT_EQ(call.arguments[7].name, "k");
    EXPECT_EQ(call.arguments[7].json, "\"v\"");
    EXPECT_EQ(call.arguments[8].name, "m");
    EXPECT_EQ(call.arguments[8].input, "a");
    const lang::value content = text_.json("\"{{a}}\"");
    std::string out;
    const bound_input input{"a", lang::value::integer(1), true};
    ASSERT_TRUE(code->fill(out, std::span(&input, 1), std::span(&content, 1)));
    EXPECT_EQ(out, "<{{a}}>");
}

TEST_F(prompt_template_test, without_a_declaration_inputs_are_found_by_name) {
    auto code = prompt_template::compile("{{x}}{{y}}", nullptr);
    ASSERT_TRUE(code);
    EXPECT_EQ(code->names(), (std::vector<std::string>{"x", "y"}));
    const std::vector<bound_input> inputs{{"y", lang::value::integer(2), true},
                                          {"x", lang::value::integer(1), true}};
    std::string out;
    ASSERT_TRUE(code->fill(out, inputs));
    EXPECT_EQ(out, "12");
    const auto missing = code->fill(out, std::span(inputs).first(1));
    ASSERT_FALSE(missing);
    EXPECT_EQ(testing::reason_of(missing.error()), "input_validation_failure");
}

TEST_F(prompt_template_test, an_input_left_out_inserts_nothing) {
    auto code = prompt_template::compile("<{{a}}>", &names_);
    const bound_input input{"a", {}, false};
    std::string out;
    ASSERT_TRUE(code->fill(out, std::span(&input, 1)));
    EXPECT_EQ(out, "<>");
}

} // namespace
} // namespace heddle::tasks
