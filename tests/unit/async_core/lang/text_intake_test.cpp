// Texts from outside become values in turns, the same as at once.
#include <heddle/lang/text.hpp>
#include <heddle/lang/text_intake.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace heddle::lang::testing {
namespace {

TEST(text_intake, makes_the_value_of_make_string) {
    const heap_owner memory(heap::create());
    std::string many;
    while (many.size() < 600'000) many += "\u00e4\u20ac\U0001F600x";
    std::string broken = many;
    for (std::size_t at = 1000; at < broken.size(); at += 9973) broken[at] = '\xFF';
    for (const std::string& text :
         {std::string(), std::string("short"), std::string("\xFF"), many, broken,
          std::string(500'000, 'a'), std::string(500'000, '\x80'), many + "\xE2\x82"}) {
        text_intake intake(*memory, text);
        std::size_t turns = 1;
        while (!intake.go_on()) ++turns;
        const value whole = intake.take();
        const value expected = make_string(*memory, text);
        EXPECT_TRUE(string_bytes(whole) == string_bytes(expected)) << text.size();
        EXPECT_EQ(string_length(whole), string_length(expected));
        EXPECT_GE(turns, text.size() / 70'000);
    }
}

} // namespace
} // namespace heddle::lang::testing
