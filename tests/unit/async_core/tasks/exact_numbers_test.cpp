// Numbers of a program, on their way to a model and into checks.
#include "tasks_testing.hpp"

#include <heddle/tasks/definition/request_parameters.hpp>
#include <heddle/tasks/output/output_schema.hpp>
#include <heddle/tasks/template_files/template_loader.hpp>

#include <gtest/gtest.h>
#include <hard_numbers.hpp>

#include <algorithm>
#include <cstdio>

namespace heddle::tasks {
namespace {

using heddle::testing::bits_in;
using heddle::testing::bits_of;
using heddle::testing::hard_numbers;
using heddle::testing::json_of_numbers;
using testing::harness;

TEST(exact_numbers, of_the_defaults_of_a_tool) {
    harness w;
    w.llm.say("x");
    const std::vector<double> numbers = hard_numbers();
    std::string list = json_of_numbers(numbers);
    std::replace(list.begin(), list.end(), ',', ' ');
    w.json("(deftool f (params (n array (default '(" + list.substr(1, list.size() - 2) +
           ")))) (description \"d\") n) "
           "(defatom t (params) (instructions \"q\") (tools (f))) (t)");
    ASSERT_EQ(w.llm.asked.size(), 1U);
    EXPECT_EQ(bits_in(w.llm.asked[0].tools.at(0).parameters_json), bits_of(numbers));
}

TEST(exact_numbers, of_extra_parameters) {
    const std::vector<double> numbers = hard_numbers();
    const std::string written = json_of_numbers(numbers);
    template_loader loader(template_load_options{});
    loader.add("t.xml", R"(<task name="t" type="atomic"><description>d</description>
        <instructions>q</instructions><extra_parameters>{"n": )" +
                            written + "}</extra_parameters></task>");
    const auto loaded = std::move(loader).finish();
    ASSERT_TRUE(loaded.good()) << loaded.report->text();
    const request_parameters& declared = loaded.templates.at(0).parameters;
    ports::chat_request request;
    apply(declared, request);
    EXPECT_EQ(bits_in(request.extra.at(0).value_json), bits_of(numbers));
    EXPECT_EQ(bits_in(parameters_json(declared)), bits_of(numbers));
}

TEST(exact_numbers, of_a_schema) {
    testing::reading reads;
    for (const double number : hard_numbers()) {
        const std::string shortest = json_of_numbers({number});
        const auto schema = output_schema::compile(R"({"enum":)" + shortest + "}");
        ASSERT_TRUE(schema) << schema.error().message();
        char digits[64]; // more than it takes to tell two doubles apart
        std::snprintf(digits, sizeof digits, "%.40e", number);
        EXPECT_FALSE(schema->check(reads.json(digits), digits, "it")) << digits;
    }
}

} // namespace
} // namespace heddle::tasks
