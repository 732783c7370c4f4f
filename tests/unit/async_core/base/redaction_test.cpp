#include <heddle/base/json_string.hpp>
#include <heddle/base/redaction.hpp>

#include <gtest/gtest.h>
#include <hang_guard.hpp>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {
namespace {

TEST(redactor, hides_every_place_of_a_value) {
    const redactor hidden({secret("sk-0123456789ab"), secret("another-secret-1")}, "***");
    EXPECT_TRUE(hidden.hides());
    EXPECT_EQ(hidden.hidden("a sk-0123456789ab, sk-0123456789absk-0123456789ab b"),
              "a ***, ****** b");
    EXPECT_EQ(hidden.hidden("another-secret-1"), "***");
    std::string plain = "nothing here, sk-01234567";
    EXPECT_FALSE(hidden.hide(plain));
    EXPECT_EQ(plain, "nothing here, sk-01234567");
}

TEST(redactor, three_quarters_of_a_secret_are_as_good_as_all_of_it) {
    const std::string key = "sk-0123456789abcdefghijklm-Z"; // 28 characters
    const redactor hidden({secret(key)}, "*");
    for (std::size_t begin = 0; begin <= 7; ++begin) {
        for (std::size_t size = 21; begin + size <= key.size(); ++size) {
            EXPECT_EQ(hidden.hidden("a " + key.substr(begin, size) + " b"), "a * b")
                << begin << " " << size;
        }
    }
    EXPECT_EQ(hidden.hidden(key.substr(0, 20)), key.substr(0, 20));
    EXPECT_EQ(hidden.hidden("sk-0123...klm-Z"), "sk-0123...klm-Z");
    const redactor small({secret("four5")}, "*", redactor::min_length_in_errors);
    EXPECT_EQ(small.hidden("four four5"), "four *");
}

TEST(redactor, all_of_a_secret_is_looked_for_when_it_is_short_or_very_long) {
    const redactor small({secret("eleven-char")}, "*", 4);
    EXPECT_EQ(small.hidden("eleven-char"), "*");
    EXPECT_EQ(small.hidden("eleven-cha"), "eleven-cha");
    std::string key;
    while (key.size() < 512) key += "k" + std::to_string(key.size());
    key.resize(512);
    EXPECT_EQ(redactor({secret(key)}, "*").hidden(key.substr(0, 384)), "*");
    EXPECT_EQ(redactor({secret(key + "x")}, "*").hidden(key), key);
    EXPECT_EQ(redactor({secret(key + "x")}, "*").hidden(key + "x"), "*");
}

TEST(redactor, has_a_mark_unless_set_otherwise) {
    EXPECT_EQ(redactor({secret("sk-0123456789ab")}).hidden("a sk-0123456789ab b"), "a [hidden] b");
    EXPECT_FALSE(redactor().hides());
    EXPECT_EQ(redactor().hidden("a sk-0123456789ab b"), "a sk-0123456789ab b");
}

/// `key` with its characters written by `form`: `all`, or those that stand for something in
/// addresses.
std::string written(std::string_view key, const char* form, bool all) {
    std::string text;
    for (const char c : key) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_';
        char buffer[32];
        std::snprintf(buffer, sizeof buffer, form, static_cast<unsigned char>(c));
        text += plain && !all ? std::string(1, c) : std::string(buffer);
    }
    return text;
}

TEST(redactor, hides_a_secret_whose_escapes_were_escaped_or_are_numbers) {
    const std::string key = "sk-proj-Ab3/x+Zq==9_kQ7w";
    const redactor hidden({secret(key)}, "*");
    for (const char* form : {"%%%02X", "%%25%02X", "%%2525%02x", "\\x%02x", "\\\\x%02X", "\\u%04x",
                             "&#%d;", "&#x%X;", "&#x%06x;"}) {
        for (const bool all : {false, true}) {
            const std::string text = written(key, form, all);
            EXPECT_EQ(hidden.hidden("a " + text + " b"), "a * b") << text;
            const std::string part = written(key.substr(2, 20), form, all);
            EXPECT_EQ(hidden.hidden("a " + part + " b"), "a * b") << part;
            for (std::size_t size = 1; size < text.size(); ++size) {
                const std::string begun = "a " + text.substr(0, size);
                if (hidden.hidden(begun) != begun) continue; // enough of it to be known
                EXPECT_GE(hidden.undecided(begun), size) << begun;
            }
        }
    }
    for (const char* text :
         {"50% of a&b &amp; &#65; \\x41 %2541 &# %25", "%252525", "&#9999999999;"})
        EXPECT_EQ(hidden.hidden(text), text);
}

TEST(redactor, runs_of_escapes_take_no_time) {
    const redactor hidden({secret("sk-proj-Ab3/x+Zq==9_kQ7w")}, "*");
    const auto began = std::chrono::steady_clock::now();
    for (const std::string_view run : {"%25", "25", "%2525", "&#", "&#1", "\\x", "&#x7;"}) {
        std::string text = "%";
        while (text.size() < 500'000) text += run;
        EXPECT_EQ(hidden.hidden(text), text) << run;
        EXPECT_LE(hidden.undecided(text), 300U) << run;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - began, hang_guard::limit);
}

TEST(redactor, hides_a_secret_however_it_is_escaped) {
    const redactor hidden({secret(R"(sk-SEC"RET\abc/def%012)")}, "*");
    for (const char* text : {
             R"(sk-SEC"RET\abc/def%012)",               // as it is
             R"(sk-SEC\"RET\\abc/def%012)",             // in JSON
             R"(sk-SEC\"RET\\abc\/def%012)",            // with more escapes than needed
             R"(sk-SEC\\\"RET\\\\abc/def%012)",         // JSON in JSON
             R"(sk-SEC\\\\\\\"RET\\\\\\\\abc/def%012)", // and once more
             R"(\u0073\u006b-SEC\u0022RET\u005Cabc\u002fdef\u0025012)", // by number
             R"(sk-SEC\\u0022RET\\\\abc/def%012)", // by number, in JSON in JSON
             R"(sk-SEC%22RET\abc%2fdef%25012)",    // in an address
             R"(%73%6B-SEC%22RET\abc%2Fdef%25012)",
         }) {
        EXPECT_EQ(hidden.hidden(std::string("a ") + text + " b"), "a * b") << text;
        std::string less(text);
        less.pop_back(); // and without its end
        EXPECT_EQ(hidden.hidden("a " + less + "! b"), "a *! b") << text;
    }
    EXPECT_EQ(
        redactor({secret("plain-0123456789")}, "*").hidden(R"(\u0070lain-012345678\u0039 \ %)"),
        R"(* \ %)");
}

// Any text, escaped in any way: the secret is gone, and what is beside it is not.
TEST(redactor, layers_of_json_hide_nothing_from_it) {
    const std::string key = "k\"e/y\\\\-\"\"-0123456789";
    std::string text = "before " + key + " after";
    for (int layer = 0; layer < 5; ++layer) {
        const std::string shown = redactor({secret(key)}, "*").hidden(text);
        EXPECT_EQ(shown.find("0123456789"), std::string::npos) << shown;
        EXPECT_NE(shown.find("before "), std::string::npos);
        EXPECT_NE(shown.find(" after"), std::string::npos);
        std::string escaped;
        append_json_string(escaped, text);
        text = escaped;
    }
}

TEST(redactor, a_long_text_of_near_hits_takes_no_time) {
    const std::string value(400, 'a');
    std::string text;
    for (int i = 0; i < 500; ++i) text += std::string(250, 'a') + "\\b";
    const std::clock_t began = std::clock();
    EXPECT_FALSE(redactor({secret(value)}).hide(text));
    EXPECT_FALSE(redactor({secret(value)}).hide(text = std::string(1'000'000, '\\')));
    EXPECT_LT(std::clock() - began, 10 * CLOCKS_PER_SEC); // quadratic work would take minutes
}

/// A text in pieces, as whoever may not take back what was shown hides secrets in it.
std::string hidden_in_pieces(const redactor& secrets, std::string_view text, std::size_t size) {
    std::string shown;
    std::string waiting;
    for (std::size_t at = 0; at < text.size(); at += size) {
        waiting += text.substr(at, size);
        const std::size_t decided = waiting.size() - secrets.undecided(waiting);
        shown += secrets.hidden(std::string_view(waiting).substr(0, decided));
        waiting.erase(0, decided);
    }
    return shown + secrets.hidden(waiting);
}

TEST(redactor, hides_a_secret_in_a_text_that_arrives_in_pieces) {
    const redactor hidden({secret("sk-abc/0123%456789-sk-abc/0"), secret("another-secret-1")}, "*");
    const std::string key = "sk-abc/0123%456789-sk-abc/0";
    const std::vector<std::string> texts = {
        "a " + key + " b",
        key,
        key + key,
        key + "sk-abc/01 s",
        "sk-" + key + "123",
        key.substr(3) + " " + key.substr(0, 22),
        "another-secret-" + key,
        "sk-abc/0 another-secret-1 sk-",
        "asks sk-abc/0123 another-se",
        R"(sk-abc\/0123%456789-\u0073k-abc\/0 \)",
        R"(\%73k-abc%2F0123%25456789-sk-abc%2f0%2)",
    };
    for (const std::string& text : texts) {
        const std::string whole = hidden.hidden(text);
        for (std::size_t size = 1; size <= text.size(); ++size)
            EXPECT_EQ(hidden_in_pieces(hidden, text, size), whole) << text << ' ' << size;
    }
    EXPECT_EQ(hidden.undecided("nothing of it."), 0U);
    EXPECT_EQ(hidden.undecided("some s"), 1U);
    EXPECT_EQ(hidden.undecided("some sk-abc"), 6U);
    EXPECT_EQ(hidden.undecided("some " + key), 0U);
    EXPECT_EQ(redactor().undecided("sk-"), 0U);
}

TEST(redactor, words_that_are_used_as_keys_stay) {
    for (const char* word : {"", "none", "role", "EMPTY", "ollama", "test", "placeholder",
                             "lm-studio", "NOT_NEEDED", "short-1"}) {
        const redactor hidden({secret(word)});
        EXPECT_FALSE(hidden.hides()) << word;
        EXPECT_EQ(hidden.hidden(std::string("the ") + word), std::string("the ") + word);
    }
    EXPECT_TRUE(redactor({secret("exactly-12-c")}).hides());
    for (const char* key : {"8-letter", "tiny-key-11", "hunter22", "aBcDeFgH", "letters-of-12"})
        EXPECT_EQ(redactor({secret(key)}, "*").hidden(std::string("a ") + key + "."), "a *.")
            << key;
    EXPECT_TRUE(redactor({secret("placeholder")}, "x", redactor::min_length_in_errors).hides());
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
