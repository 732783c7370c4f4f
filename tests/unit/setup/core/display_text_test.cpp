#include <heddle/base/utf8.hpp>
#include <heddle/setup/display_text.hpp>

#include <gmock/gmock.h>

namespace heddle::setup {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(public_address, shows_where_requests_go) {
    for (const char* address :
         {"https://api.openai.com/v1", "http://127.0.0.1:8080", "http://[::1]:8080/v1",
          "localhost:11434", "HTTPS://Example.com:8443/a/b"}) {
        EXPECT_EQ(public_address(address), address);
    }
    EXPECT_EQ(public_address("https://me:word@host/v1"), "https://host/v1");
    EXPECT_EQ(public_address("https://me:w@rd@host/v1"), "https://host/v1");
    EXPECT_EQ(public_address("https://host/v1?key=x"), "https://host/v1?[hidden]");
    EXPECT_EQ(public_address("https://host/v1#x"), "https://host/v1#[hidden]");
    // That is where it would go, whatever follows it.
    EXPECT_EQ(public_address("https://evil.test/v1/@api.openai.com"), "https://evil.test/[hidden]");
}

TEST(public_address, shows_no_part_of_a_password) {
    for (const char* address :
         {"http://user:hunter2pass/x@127.0.0.1:9/v1", "http:/user:hunter2pass@127.0.0.1:9/v1",
          "http//user:hunter2pass@127.0.0.1:9/v1", "user:hunter2pass@127.0.0.1:9/v1",
          "user:hunter2pass/x@127.0.0.1:9", "user:80/hunter2pass@host",
          "http://user:hunter2pass?x@h", "http://user:80?hunter2pass@host",
          "http://user:80#hunter2pass@host/v1", "http://user:a@hunter2pass/x@host/v1",
          "http://user:hunter2pass\\x@host/v1", "http://user:hunter2pass",
          "hunter2pass://user@host", "http://user:hunter2pass x@host", "://user:hunter2pass@host/",
          "http:///user:hunter2pass@host", "http://user:80/hunter2pass@host/v1"}) {
        const std::string shown = public_address(address);
        EXPECT_THAT(shown, AllOf(Not(HasSubstr("hunter2")), Not(HasSubstr("2pass")))) << address;
    }
    EXPECT_EQ(public_address("http://user:hunter2pass/x@127.0.0.1:9/v1"), "http://[hidden]");
    EXPECT_EQ(public_address("http:/user:hunter2pass@127.0.0.1:9/v1"), "[hidden]");
}

TEST(shown_address, cuts_paths_and_never_the_origin) {
    const std::string path = "/" + std::string(500, 'p');
    EXPECT_EQ(utf8::count(shown_address("https://host" + path)), 200U);
    const std::string label(60, 'a');
    const std::string origin =
        "https://" + label + "." + label + "." + label + "." + label + ".test:8443";
    EXPECT_EQ(shown_address(origin), origin);
    EXPECT_EQ(shown_address(origin + "/v1"), origin + "/v1");
    EXPECT_EQ(shown_address(origin + path), origin + "/" + std::string(38, 'p') + "…");
    EXPECT_EQ(shown_address("https://host/\u202Ea\x1b[2J"), "https://host/?a?[2J");
}

TEST(dollars, are_rounded_for_json) {
    EXPECT_EQ(rounded_usd(0.037500000000000006), 0.0375);
    EXPECT_EQ(rounded_usd(0), 0);
    EXPECT_EQ(rounded_usd(1234.5), 1234.5);
}

TEST(dollars, have_the_places_that_count) {
    EXPECT_EQ(dollars(0), "");
    EXPECT_EQ(dollars(1234.5), "$1234.50");
    EXPECT_EQ(dollars(0.1), "$0.1");
    EXPECT_EQ(dollars(2.2199999999999993E-3), "$0.00222");
    EXPECT_EQ(dollars(6.24e-6), "$0.0000062");
    EXPECT_EQ(dollars(1.5e-7), "$0.00000015");
}

} // namespace
} // namespace heddle::setup
