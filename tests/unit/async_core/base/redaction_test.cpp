#include <heddle/base/redaction.hpp>

#include <gtest/gtest.h>

namespace heddle {
namespace {

TEST(redactor, hides_every_place_of_a_value) {
    const redactor hidden({secret("sk-0123456789ab"), secret("another-secret-1")}, "***");
    EXPECT_TRUE(hidden.hides());
    EXPECT_EQ(hidden.hidden("a sk-0123456789ab, sk-0123456789absk-0123456789ab b"),
              "a ***, ****** b");
    EXPECT_EQ(hidden.hidden("another-secret-1"), "***");
    std::string plain = "nothing here, sk-0123456789a";
    EXPECT_FALSE(hidden.hide(plain));
    EXPECT_EQ(plain, "nothing here, sk-0123456789a");
}

TEST(redactor, words_that_are_used_as_keys_stay) {
    for (const char* word : {"", "none", "role", "EMPTY", "ollama", "test", "placeholder"}) {
        const redactor hidden({secret(word)});
        EXPECT_FALSE(hidden.hides()) << word;
        EXPECT_EQ(hidden.hidden(std::string("the ") + word), std::string("the ") + word);
    }
    EXPECT_TRUE(redactor({secret("exactly-12-c")}).hides());
    EXPECT_TRUE(redactor({secret("four")}, "x", redactor::min_length_in_errors).hides());
    EXPECT_FALSE(redactor({secret("")}, "x", 0).hides());
}

TEST(redactor, a_secret_inside_another_leaves_no_rest) {
    const redactor hidden({secret("0123456789ab"), secret("sk-0123456789ab-cdef")}, "*");
    EXPECT_EQ(hidden.hidden("sk-0123456789ab-cdef 0123456789ab"), "* *");
}

TEST(redactor, a_mark_that_holds_a_secret_ends) {
    const redactor hidden({secret("abcdefabcdef")}, "<abcdefabcdef>");
    EXPECT_EQ(hidden.hidden("abcdefabcdef"), "<abcdefabcdef>");
}

} // namespace
} // namespace heddle
