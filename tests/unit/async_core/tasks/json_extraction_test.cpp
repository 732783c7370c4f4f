#include "tasks/output/json_extraction.hpp"
#include "tasks_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;

std::string extract(std::string_view response, bool cut = false) {
    testing::reading text;
    extracted_json found;
    lang::free_work work;
    if (auto done = extract_json(text.memory(), response, cut, found, work); !done) {
        return "error: " + done.error().message();
    }
    // `text` is what a schema would be held against: it must be the same JSON.
    EXPECT_EQ(lang::value_to_json(text.json(found.text)).value(),
              lang::value_to_json(found.content).value());
    return lang::value_to_json(found.content).value() + (found.completed ? " completed" : "");
}

TEST(json_extraction, takes_the_whole_response) {
    EXPECT_EQ(extract(" {\"a\": 1} \n"), "{\"a\":1}");
    EXPECT_EQ(extract("42"), "42");
    EXPECT_EQ(extract("\xEF\xBB\xBF[1]"), "[1]");
}

TEST(json_extraction, takes_the_only_code_fence) {
    EXPECT_EQ(extract("Here:\n```json\n{\"a\": [1]}\n```\nDone {ok}."), "{\"a\":[1]}");
    EXPECT_EQ(extract("```\n\"text\"\n```"), "\"text\"");
    EXPECT_EQ(extract("```json\n[1, 2,]\n```"), "[1,2]");
    EXPECT_EQ(extract("```json\n{\"a\": \"```\"}\n```"), "{\"a\":\"```\"}");
    EXPECT_THAT(extract("```json\n[1]\n```\n```json\n[2]\n```"), HasSubstr("more than one"));
}

TEST(json_extraction, takes_the_only_value_inside_prose) {
    EXPECT_EQ(extract("The answer is {\"a\": \"}\"}, I think."), "{\"a\":\"}\"}");
    EXPECT_EQ(extract("In [0, 1) and {x}: {\"a\": 1}"), "{\"a\":1}");
    EXPECT_THAT(extract("Either [1] or [2]"), HasSubstr("more than one"));
    EXPECT_THAT(extract("no json here"), HasSubstr("error"));
    EXPECT_THAT(extract(""), HasSubstr("empty"));
}

TEST(json_extraction, a_part_of_something_broken_is_not_the_response) {
    EXPECT_THAT(extract("{\"a\": {\"b\": 1}, oops"), HasSubstr("error"));
    EXPECT_THAT(extract("see {\"a\": {\"b\": 1}, oops"), HasSubstr("error"));
}

TEST(json_extraction, drops_trailing_commas) {
    EXPECT_EQ(extract("{\"a\": [1, 2, ], \"b\": \",]\",}"), "{\"a\":[1,2],\"b\":\",]\"}");
    EXPECT_EQ(extract("So: [1,\n]"), "[1]");
}

TEST(json_extraction, half_a_character_loses_no_response) {
    EXPECT_EQ(extract(R"({"a":"x\ud83e","b":["\ud83e\uddf5"]})"),
              "{\"a\":\"x\uFFFD\",\"b\":[\"🧵\"]}");
    EXPECT_EQ(extract("```json\n[\"\\uddf5\",]\n```"), "[\"\uFFFD\"]");
}

TEST(json_extraction, completes_what_a_length_limit_cut) {
    EXPECT_EQ(extract(R"({"a": [1, 2], "b": {"c": "x"})", true),
              R"({"a":[1,2],"b":{"c":"x"}} completed)");
    EXPECT_EQ(extract(R"({"a": [1, 2], "b": "half a te)", true), R"({"a":[1,2]} completed)");
    EXPECT_EQ(extract(R"({"a": [1, 23)", true), R"({"a":[1]} completed)");
    EXPECT_EQ(extract(R"({"a": 1, "b)", true), R"({"a":1} completed)");
    EXPECT_EQ(extract(R"({"a": 1, "b":)", true), R"({"a":1} completed)");
    EXPECT_EQ(extract(R"(["x", "y")", true), R"(["x","y"] completed)");
    EXPECT_EQ(extract("[", true), "[] completed");
    EXPECT_EQ(extract("```json\n[{\"a\": 1}, {\"a\":", true), "[{\"a\":1},{}] completed");
    EXPECT_THAT(extract(R"({"a": [1, 23)", false), HasSubstr("error"));
}

TEST(json_extraction, hostile_responses_end_quickly) {
    EXPECT_THAT(extract(std::string(1'000'000, '[')), HasSubstr("error"));
    EXPECT_THAT(extract(std::string(1'000'000, '['), true), HasSubstr("error"));
    std::string pairs;
    for (int i = 0; i < 300'000; ++i) pairs += "{x";
    EXPECT_THAT(extract(pairs), HasSubstr("error"));
    std::string commas = "x [";
    commas.append(1'000'000, ',');
    EXPECT_THAT(extract(commas + "]"), HasSubstr("error"));
}

} // namespace
} // namespace heddle::tasks
