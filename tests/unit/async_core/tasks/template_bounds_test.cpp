// Templates out of XML: what hostile and large files try.
#include "template_loading.hpp"

#include <heddle/base/utf8.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tasks {
namespace {

using ::testing::HasSubstr;
using testing::lines;
using testing::load;
using testing::problems;
using testing::reading;
using testing::task;

TEST(template_loader, billion_laughs_expand_nothing) {
    std::string text = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [<!ENTITY lol \"lol\">";
    for (int i = 1; i < 10; ++i) {
        text += "<!ENTITY lol" + std::to_string(i) + " \"";
        for (int k = 0; k < 10; ++k) text += "&lol" + std::to_string(i - 1) + ";";
        text += "\">";
    }
    text += "]>\n<task type='atomic'><description>&lol9;</description></task>";
    EXPECT_EQ(problems(text), (lines{"2:1 dtd document types and entity definitions are refused"}));
    EXPECT_EQ(problems("<task type='atomic' name='t'><description>&lol9;</description></task>"),
              (lines{"1:43 entity &lol9; is not one of the five entities of XML"}));
}

TEST(template_loader, external_entities_are_refused) {
    EXPECT_EQ(problems("<!DOCTYPE t [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><t>&x;</t>"),
              (lines{"1:1 dtd document types and entity definitions are refused"}));
}

TEST(template_loader, size_depth_and_counts_are_bounded) {
    template_load_options options;
    options.limits.bytes = 1000;
    EXPECT_EQ(problems(std::string(2000, ' '), options),
              (lines{"1:1 too-large the file is larger than 1000 bytes"}));
    options.limits.bytes = 1 << 20;
    options.limits.elements = 10;
    std::string many = "<tasks>";
    for (int i = 0; i < 20; ++i) many += "<task/>";
    EXPECT_EQ(problems(many + "</tasks>", options),
              (lines{"1:71 too-large there are more than 10 elements"}));
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "<a>";
    EXPECT_EQ(problems(deep), (lines{"1:97 too-deep elements are nested deeper than 32"}));
    options = {};
    options.limits.problems = 5;
    std::string wrong = "<tasks>";
    for (int i = 0; i < 20; ++i) wrong += "<job/>";
    const lines reported = problems(wrong + "</tasks>", options);
    ASSERT_EQ(reported.size(), 6U);
    EXPECT_THAT(reported.back(), HasSubstr("too-many 15 more problems"));
    std::string inputs = "<inputs>";
    for (int i = 0; i < 1500; ++i) inputs += "<input name='a" + std::to_string(i) + "'/>";
    EXPECT_EQ(problems(task(inputs + "</inputs>")).size(), 1U);
}

TEST(template_loader, ten_thousand_ampersands_are_reported_quickly) {
    const lines reported = problems("<tasks>" + std::string(1'000'000, '&') + "</tasks>");
    EXPECT_EQ(reported.size(), 100U);
}

TEST(template_loader, messages_stay_utf8_whatever_they_quote) {
    std::string long_name = "a";
    for (int i = 0; i < 300; ++i) long_name += "ü";
    reading values;
    for (const std::string& text :
         {task("<instructions>{{" + long_name + "</instructions>"),
          task("<model>" + long_name + "</model>"), task("<retries>" + long_name + "</retries>"),
          task("<inputs><input name='" + long_name + " x'/></inputs>"),
          "<template name='" + long_name + "' params=''><task/></template>",
          "<template name='t' params='' returns='" + long_name + "'><task/></template>"}) {
        const auto loaded = load(text);
        EXPECT_FALSE(loaded.good());
        EXPECT_TRUE(utf8::is_valid(loaded.report->json())) << text;
        EXPECT_TRUE(utf8::is_valid(loaded.report->text())) << text;
    }
}

TEST(template_loader, large_files_take_linear_time) {
    // Each of these took minutes when places, names or problems were looked for one by one.
    std::string placeholders;
    std::string templates = "<tasks>";
    std::string relevance;
    for (int i = 0; i < 100'000; ++i) placeholders += "{{a" + std::to_string(i) + "}}";
    for (int i = 0; i < 30'000; ++i) {
        templates += "<template name='t" + std::to_string(i) + "' params='x'><task/></template>\n";
        relevance += "<input name='a' include='true'/>";
    }
    EXPECT_TRUE(load(task("<instructions>" + placeholders + "</instructions>")).good());
    EXPECT_EQ(
        problems(task("<inputs><input name='q'/></inputs><system>" + placeholders + "</system>"))
            .size(),
        51U);
    const auto loaded = load(templates + "</tasks>");
    ASSERT_TRUE(loaded.good());
    EXPECT_EQ(loaded.templates.back().source, "t.xml:30000");
    const auto reported = load(task("<context_relevance>" + relevance + "</context_relevance>"));
    EXPECT_EQ(reported.report->problems.size(), 201U);
    EXPECT_FALSE(reported.report->text().empty());
}

} // namespace
} // namespace heddle::tasks
