#include <heddle/base/json_parser.hpp>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <gtest/gtest.h>
#include <hard_numbers.hpp>

#include <limits>

namespace heddle {
namespace {

namespace json = boost::json;
using testing::bits_in;
using testing::bits_of;
using testing::hard_numbers;
using testing::json_of_numbers;

json::value parsed(std::string_view text) {
    boost::system::error_code failed;
    json::value read = parse_json(text, failed);
    EXPECT_FALSE(failed) << text << ": " << failed.message();
    return read;
}

boost::system::error_code failure_of(std::string_view text, std::size_t max_depth = 32) {
    boost::system::error_code failed;
    EXPECT_TRUE(parse_json(text, failed, max_depth).is_null());
    return failed;
}

TEST(json_parser, finds_the_nearest_double) {
    const std::vector<double> numbers = hard_numbers();
    EXPECT_EQ(bits_in(json::serialize(parsed(json_of_numbers(numbers)))), bits_of(numbers));
    EXPECT_EQ(parsed("0.3000000000000000444089209850062616169452667236328125"), 0.1 + 0.2);
    EXPECT_EQ(parsed("9007199254740993.0"), 9007199254740992.0);
    EXPECT_EQ(parsed("1e999"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(parsed("-1e-999"), 0.0);
}

TEST(json_parser, keeps_whole_numbers) {
    const std::string text = "[9007199254740993,-9223372036854775808,18446744073709551615]";
    EXPECT_EQ(json::serialize(parsed(text)), text);
    EXPECT_EQ(parsed("18446744073709551616"), 0x1p64);
}

TEST(json_parser, reads_a_text_in_pieces) {
    const std::string text = R"({"a":)" + json_of_numbers(hard_numbers()) +
                             R"(,"b":[-12,18446744073709551615,"\u00e9",true,null,{"c\n":{}}]} )";
    json_parser parser(8);
    boost::system::error_code failed;
    for (const char& byte : text) {
        ASSERT_EQ(parser.write_some({&byte, 1}, failed), 1U);
        ASSERT_FALSE(failed) << failed.message();
    }
    parser.finish(failed);
    ASSERT_FALSE(failed) << failed.message();
    EXPECT_EQ(parser.release(), parsed(text));
}

TEST(json_parser, refuses_what_is_not_one_value) {
    EXPECT_EQ(failure_of("[1,"), json::error::incomplete);
    EXPECT_EQ(failure_of("1 2"), json::error::extra_data);
    EXPECT_TRUE(failure_of("[01]"));
    EXPECT_TRUE(failure_of("[1.]"));
    EXPECT_TRUE(failure_of(""));
    EXPECT_EQ(failure_of("[[1]]", 1), json::error::too_deep);
    EXPECT_EQ(parsed(R"({"a":1,"a":2})"), (json::object{{"a", 2}}));
}

} // namespace
} // namespace heddle
