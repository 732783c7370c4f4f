#include "config/toml_bounds.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::setup {
namespace {

TEST(toml_bounds, depth_is_that_of_names_and_of_brackets) {
    EXPECT_FALSE(too_deep_line("a.b.c = 1", 3));
    EXPECT_EQ(too_deep_line("a.b.c.d = 1", 3), 1U);
    EXPECT_EQ(too_deep_line("x = 1\n\n[a.b.c.d]", 3), 3U);
    EXPECT_FALSE(too_deep_line("[a.b.c]\nd.e.f = [[1.5, 2.5], {a.b = 1, c.d = 1.0}]", 3));
    EXPECT_FALSE(too_deep_line("x = [[[1]]]", 3));
    EXPECT_EQ(too_deep_line("x = [[[[1]]]]", 3), 1U);
    EXPECT_EQ(too_deep_line("x = {a = {b = {c = {}}}}", 3), 1U);
    EXPECT_EQ(too_deep_line("x = [\n[\n[\n[]]]]", 3), 4U);
    EXPECT_FALSE(too_deep_line("a . b . c = 1\n\"a.b.c.d\".'x.y.z.w' = 1", 3));
    EXPECT_EQ(too_deep_line("a . \"b\" . c . 'd' = 1", 3), 1U);
}

TEST(toml_bounds, texts_and_comments_hold_what_they_like) {
    const std::string many = "......[[[[[[{{{{{{";
    for (const std::string& quiet :
         {"# " + many + "\nx = 1", "x = \"" + many + "\"", "x = '" + many + "'",
          "x = \"\"\"" + many + "\n" + many + "\"\"\"", "x = '''" + many + "\n" + many + "'''",
          "x = \"\\\"" + many + "\"", "x = \"\"\"\\\"\"\"" + many + "\"\"\"",
          "x = \"\"\"" + many + "\"\"\"\"\"", "x = '\\' # " + many, "x = \"" + many,
          "x = '''" + many}) {
        EXPECT_FALSE(too_deep_line(quiet, 3)) << quiet;
        EXPECT_EQ(too_deep_line("\n" + quiet + "\n\"'''\"", 3).has_value(), false) << quiet;
    }
    // Behind them the counting goes on.
    for (const std::string text :
         {"x = \"\\\\\"", "x = '\\'", "x = \"\"", "x = ''", "x = \"\"\"\"\"\"",
          "x = \"\"\"a\"\"\"\"\"", "x = 1 # '''", "x = \"a"}) {
        EXPECT_EQ(too_deep_line(text + "\na.b.c.d = 1", 3), 2U) << text;
    }
}

} // namespace
} // namespace heddle::setup
