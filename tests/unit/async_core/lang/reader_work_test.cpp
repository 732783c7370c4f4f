// What the reader does is counted and can be stopped.
#include "lang_harness.hpp"
#include "watched_work.hpp"

#include <heddle/lang/reader.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heddle::lang::testing {
namespace {

TEST(work, of_the_reader_is_looked_at_often_whatever_it_reads) {
    const std::string much(1'000'000, 'a');
    std::string escapes = "\"";
    for (int i = 0; i < 300'000; ++i) escapes += "\\n";
    std::string many = "(";
    for (int i = 0; i < 300'000; ++i) many += "1 ";
    for (const std::string& text :
         {"; " + much + "\n1", "#| " + much + " |# 1", "\"" + much + "\"", escapes + "\"",
          std::string(1'000'000, ' ') + "1", many + ")", "#| " + much, "\"" + much}) {
        const heap_owner memory(heap::create());
        watched_work work;
        read_options options;
        options.work = &work;
        (void)read_all(*memory, text, 1, options);
        EXPECT_GE(work.done(), text.size() / 8) << text.substr(0, 3);
        EXPECT_LE(work.longest, 20'000U) << text.substr(0, 3);
        watched_work refusing(true);
        options.work = &refusing;
        EXPECT_FALSE(read_all(*memory, text, 1, options)) << text.substr(0, 3);
        EXPECT_LE(refusing.done(), 20'000U) << text.substr(0, 3);
    }
}

TEST(work, of_the_reader_is_not_done_for_words_without_end) {
    const heap_owner memory(heap::create());
    for (const char c : {'a', '1'}) {
        const auto read = read_all(*memory, "(x " + std::string(5'000'000, c) + ")");
        ASSERT_FALSE(read);
        EXPECT_NE(read.error().message().find("longer than 1048576 bytes"), std::string::npos);
    }
    EXPECT_TRUE(read_all(*memory, std::string(1'000'000, 'a')));
    lang_harness harness;
    EXPECT_TRUE(
        harness.shown("(string->symbol (string-join (range 300000)))").starts_with("LimitError"));
}

} // namespace
} // namespace heddle::lang::testing
