#include <heddle/base/utf8.hpp>
#include <heddle/setup/json_line.hpp>

#include <gtest/gtest.h>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <cstdint>
#include <limits>

namespace heddle::setup {
namespace {

TEST(json_line, leaves_plain_json_as_it_is) {
    for (const std::string_view json :
         {"{}", "[1,\"żółć 🧵\"]", "{\n  \"a\": \"\\u001b[31m\"\n}"}) {
        EXPECT_EQ(json_line(json), std::string(json) + "\n");
    }
}

TEST(json_line, disturbs_no_terminal_and_reads_back) {
    const std::string text =
        "a\x7F \xC2\x9B"
        "31m \xC2\x80\xC2\x9F\xC2\xA0";
    const std::string line = json_line(boost::json::value(text));
    EXPECT_EQ(line, "\"a\\u007f \\u009b31m \\u0080\\u009f\xC2\xA0\"\n");
    EXPECT_EQ(boost::json::parse(line).as_string(), text);
}

TEST(json_line, shows_text_in_the_order_that_it_has) {
    const std::string text = "https://evil.test/\u202Etset.doog\u2066\u061C\u2028";
    const std::string line = json_line(boost::json::value(text));
    EXPECT_EQ(line, "\"https://evil.test/\\u202etset.doog\\u2066\\u061c\\u2028\"\n");
    EXPECT_EQ(boost::json::parse(line).as_string(), text);
}

TEST(json_line, writes_floats_as_the_language_does) {
    const boost::json::object content{
        {"0.5E-1 \\\" 2E0", 0.5},      {"zero", 0.0},   {"whole", 3}, {"negative", -0.25},
        {"all", {1e300, 1e-7, 100.0}}, {"text", "5E-1"}};
    EXPECT_EQ(json_line(content),
              "{\"0.5E-1 \\\\\\\" 2E0\":0.5,\"zero\":0.0,\"whole\":3,\"negative\":-0.25,"
              "\"all\":[1e+300,1e-07,100.0],\"text\":\"5E-1\"}\n");
}

TEST(json_line, writes_every_kind_of_value) {
    boost::json::object inside;
    inside["\xC2\x9B\n"] = "";
    boost::json::object content;
    content["null"] = nullptr;
    content["flags"] = boost::json::array{true, false};
    content["least"] = std::numeric_limits<std::int64_t>::min();
    content["most"] = std::numeric_limits<std::uint64_t>::max();
    content["empty"] = boost::json::array{boost::json::array(), boost::json::object()};
    content["inside"] = inside;
    EXPECT_EQ(json_line(content),
              "{\"null\":null,\"flags\":[true,false],\"least\":-9223372036854775808,"
              "\"most\":18446744073709551615,\"empty\":[[],{}],"
              "\"inside\":{\"\\u009b\\n\":\"\"}}\n");
}

TEST(json_text, is_the_same_but_for_what_a_terminal_obeys) {
    const boost::json::array content{0.5, "\x7F\xE2\x80\xAE\t\xF0"};
    EXPECT_EQ(json_text(content),
              "[0.5,\"\x7F\xE2\x80\xAE\\t" + std::string(utf8::replacement) + "\"]");
}

TEST(json_line, a_name_of_a_file_may_be_any_bytes) {
    const std::string line = json_line(boost::json::object{{"file", "a\xF0.xml"}});
    EXPECT_EQ(line, "{\"file\":\"a" + std::string(utf8::replacement) + ".xml\"}\n");
}

} // namespace
} // namespace heddle::setup
