#include "tasks_testing.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/tasks/output/task_error.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using testing::reading;

std::vector<task_error> samples() {
    std::vector<task_error> errors;
    errors.push_back({"too many turns", task_error::resource_exhaustion{"turns", {}}});
    errors.push_back({"", task_error::resource_exhaustion{"cost", task_error::metrics{0.1, 1e-9}}});
    for (int i = 0; i <= static_cast<int>(task_failure_reason::unexpected_error); ++i) {
        errors.push_back({"why & <how> \"quoted\" ]]>\nline two, ü",
                          task_error::failure{static_cast<task_failure_reason>(i), {}}});
    }
    errors.push_back(
        {"m", task_error::failure{task_failure_reason::subtask_failure,
                                  R"({"nestingDepth":2,"subtaskRequest":{"a":[1,"<"]}})"}});
    errors.push_back({"m", task_error::invalid_output{{"a < b", "", "c"}}});
    errors.push_back({"m", task_error::invalid_output{}});
    errors.push_back({"m", task_error::validation_error{"inputs/goal"}});
    errors.push_back({"m", task_error::xml_parse_error{"a.xml:3:4"}});
    return errors;
}

TEST(task_error, comes_back_from_json_xml_and_values) {
    reading memory;
    for (const task_error& each : samples()) {
        SCOPED_TRACE(to_xml(each));
        const auto from_json = task_error_from_json(to_json(each));
        ASSERT_TRUE(from_json) << from_json.error().message();
        EXPECT_EQ(*from_json, each);
        const auto from_xml = task_error_from_xml(to_xml(each));
        ASSERT_TRUE(from_xml) << from_xml.error().message();
        EXPECT_EQ(*from_xml, each);
        const auto from_value = task_error_from_value(to_value(memory.memory(), each));
        ASSERT_TRUE(from_value) << from_value.error().message();
        EXPECT_EQ(*from_value, each);
    }
}

/// What a model or a server wrote may be cut anywhere: type, reason and message are never lost.
TEST(task_error, no_text_in_it_loses_the_rest) {
    reading memory;
    for (const std::string bad : {"\xE6\x97", "a\xFFz", "\xED\xA0\x80", "\x80"}) {
        for (const task_error& each :
             {task_error{bad, task_error::failure{task_failure_reason::subtask_failure, bad}},
              task_error{bad, task_error::resource_exhaustion{bad, {}}},
              task_error{bad, task_error::invalid_output{{bad, "b"}}},
              task_error{bad, task_error::validation_error{bad}},
              task_error{bad, task_error::xml_parse_error{bad}}}) {
            const lang::value result = to_value(memory.memory(), each);
            const std::string json = to_json(each);
            EXPECT_TRUE(utf8::is_valid(json)) << json;
            EXPECT_TRUE(utf8::is_valid(to_xml(each))) << to_xml(each);
            for (const std::string& text : {lang::print_value(result), json}) {
                EXPECT_THAT(text, HasSubstr(each.type_name()));
                EXPECT_THAT(text, HasSubstr(std::string(utf8::replacement)));
            }
        }
    }
    const auto read =
        task_error_from_json(to_json({"m", task_error::failure{task_failure_reason::llm_error,
                                                               R"({"deep":[[1.5,"\u00e9"]]})"}}));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(std::get<task_error::failure>(read->what).details_json, R"({"deep":[[1.5,"é"]]})");
}

TEST(task_error, details_that_json_cannot_write_do_not_lose_the_rest) {
    reading memory;
    lang::heap& heap = memory.memory();
    const task_error plain{"m", task_error::failure{task_failure_reason::llm_error, R"({"a":1})"}};
    lang::value result = to_value(heap, plain);
    const lang::value odd =
        lang::map_put(heap, lang::value::empty_map(), "n",
                      lang::value::real(std::numeric_limits<double>::infinity()));
    result = lang::map_put(heap, std::move(result), "details", odd);
    const auto read = task_error_from_value(result);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->message, "m");
    EXPECT_EQ(std::get<task_error::failure>(read->what).reason, task_failure_reason::llm_error);
    EXPECT_THAT(std::get<task_error::failure>(read->what).details_json, HasSubstr("+inf.0"));
    const double much = std::numeric_limits<double>::infinity();
    EXPECT_EQ(to_json({"m", task_error::resource_exhaustion{"cost", task_error::metrics{much, 1}}}),
              R"({"type":"RESOURCE_EXHAUSTION","message":"m","resource":"cost"})");
}

TEST(task_error, is_written_as_the_design_has_it) {
    const task_error late{
        "it took too long",
        task_error::failure{task_failure_reason::execution_timeout, R"({"seconds":5})"}};
    EXPECT_EQ(to_json(late), R"({"type":"TASK_FAILURE","message":"it took too long",)"
                             R"("reason":"execution_timeout","details":{"seconds":5}})");
    EXPECT_EQ(to_xml(late),
              "<task_error><task_failure><reason>execution_timeout</reason>"
              "<message>it took too long</message><details format=\"json\">"
              "{&quot;seconds&quot;:5}</details></task_failure></task_error>");
    const task_error used{"m", task_error::resource_exhaustion{"turns", task_error::metrics{3, 2}}};
    EXPECT_EQ(to_xml(used),
              "<task_error><resource_exhaustion><resource>turns</resource>"
              "<message>m</message><metrics><used>3</used><limit>2</limit></metrics>"
              "</resource_exhaustion></task_error>");
}

TEST(task_error, details_may_be_elements) {
    const auto read = task_error_from_xml(
        "<task_error><task_failure><reason> llm_error </reason><message>m</message>"
        "<details><status>500</status><body><code>x</code></body></details>"
        "</task_failure></task_error>");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(std::get<task_error::failure>(read->what).details_json,
              R"({"status":"500","body":{"code":"x"}})");
}

TEST(task_error, control_codes_do_not_break_the_xml) {
    const task_error odd{"bell \x07", task_error::validation_error{"p"}};
    const auto read = task_error_from_xml(to_xml(odd));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->message, "bell \uFFFD");
}

TEST(task_error, what_is_none_is_refused) {
    for (const char* json :
         {"", "[]", "{}", R"({"type":"X","message":""})", R"({"type":"TASK_FAILURE","message":1})",
          R"({"type":"TASK_FAILURE","message":"m"})",
          R"({"type":"TASK_FAILURE","message":"m","reason":"none"})",
          R"({"type":"TASK_FAILURE","message":"m","reason":"llm_error","details":3})",
          R"({"type":"TASK_FAILURE","message":"m","reason":"llm_error","colour":3})",
          R"({"type":"RESOURCE_EXHAUSTION","message":"m","resource":"t","metrics":{"used":1}})",
          R"({"type":"INVALID_OUTPUT","message":"m","violations":[1]})"}) {
        const auto read = task_error_from_json(json);
        ASSERT_FALSE(read) << json;
        EXPECT_THAT(read.error().message(), HasSubstr("a task error in JSON: "));
    }
    for (const char* xml :
         {"", "<a/>", "<task_error/>", "<task_error><b><message/></b></task_error>",
          "<task_error><task_failure><message/></task_failure></task_error>",
          "<task_error><task_failure><message/><reason>no</reason></task_failure></task_error>",
          "<task_error><task_failure><message/><reason>llm_error</reason><details>x</details>"
          "</task_failure></task_error>",
          "<!DOCTYPE a [<!ENTITY e 'x'>]><task_error/>",
          "<task_error><resource_exhaustion><message/><resource/><metrics><used>x</used>"
          "</metrics></resource_exhaustion></task_error>"}) {
        const auto read = task_error_from_xml(xml);
        ASSERT_FALSE(read) << xml;
        EXPECT_THAT(read.error().message(), HasSubstr("a task error in XML: "));
    }
}

TEST(task_error, errors_of_a_workflow_become_one) {
    const auto reason_from = [](const error& failure) {
        return std::get<task_error::failure>(task_error_from(failure).what).reason;
    };
    EXPECT_EQ(reason_from(lang::task_error("template_not_found", "m")),
              task_failure_reason::template_not_found);
    EXPECT_EQ(reason_from(error(lang::errc::unbound, "m")), task_failure_reason::unexpected_error);
    EXPECT_EQ(reason_from(error(lang::errc::syntax, "m")),
              task_failure_reason::input_validation_failure);
    EXPECT_EQ(reason_from(error(lang::errc::timeout, "m")), task_failure_reason::execution_timeout);
    EXPECT_EQ(reason_from(error::cancelled(cancel_reason::deadline)),
              task_failure_reason::execution_timeout);
    EXPECT_EQ(reason_from(error::cancelled(cancel_reason::user)),
              task_failure_reason::execution_halted);
    EXPECT_EQ(reason_from(error(make_error_code(ports::llm_errc::protocol), "m")),
              task_failure_reason::protocol_error);
    EXPECT_EQ(task_error_from(error(lang::errc::limit, "m")).type_name(), "RESOURCE_EXHAUSTION");
    EXPECT_EQ(testing::reason_of(
                  to_error({"m", task_error::failure{task_failure_reason::llm_error, {}}})),
              "llm_error");
    reading values;
    const error failed = task_error_of(values.json(
        R"({"status":"FAILED","content":"","notes":{"error":{"type":"TASK_FAILURE",
            "reason":"llm_error","message":"said no","details":{"a":1}}}})"));
    const task_error read = task_error_from(failed);
    EXPECT_EQ(read.message, "said no");
    EXPECT_EQ(std::get<task_error::failure>(read.what).details_json, R"({"a":1})");
}

TEST(task_failure_reason, has_a_word_for_each) {
    for (int i = 0; i <= static_cast<int>(task_failure_reason::unexpected_error); ++i) {
        const auto reason = static_cast<task_failure_reason>(i);
        EXPECT_EQ(task_failure_reason_from(to_string(reason)), reason);
    }
    EXPECT_FALSE(task_failure_reason_from("other"));
}

} // namespace
} // namespace heddle::tasks
