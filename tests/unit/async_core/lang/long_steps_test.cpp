// What is large is copied, freed and compiled in turns, or not at all.
#include "lang_harness.hpp"
#include "sized_values.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/lang/value_codec.hpp>

#include <gtest/gtest.h>
#include <sanitizers.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::lang::testing {
namespace {

constexpr std::size_t mebibyte = 1024 * 1024;
constexpr const char* long_message =
    "(define long (let n ((s \"some words, \")) (if (< (string-length s) 300000) "
    "(n (string-append s s)) s)))";

TEST(long_steps, an_error_keeps_the_beginning_of_a_long_message) {
    lang_harness harness;
    const outcome failed = harness.run(std::string(long_message) + "(error long 7)");
    ASSERT_EQ(failed.kind, outcome_kind::failed);
    const std::string& message = failed.failure->message();
    EXPECT_LE(message.size(), max_error_text + 3);
    EXPECT_GE(message.size(), max_error_text - 3);
    EXPECT_TRUE(message.starts_with("some words, ")) << message.substr(0, 20);
    EXPECT_TRUE(message.ends_with("…"));
    EXPECT_EQ(whole_message_of(*failed.failure).length(), 393'216U);
}

TEST(long_steps, catch_binds_the_whole_message) {
    for (const char* raised : {"(error long)", "(try (error long) (catch (e) (raise e)))",
                               "(try (error long) (finally 1))", "(await (spawn (error long)))",
                               "(raise (dict \"kind\" \"UserError\" \"message\" long))"}) {
        lang_harness harness;
        EXPECT_EQ(harness.shown(std::string(long_message) + "(try " + raised +
                                " (catch (e) (string=? long (get e 'message))))"),
                  "true")
            << raised;
    }
    lang_harness harness;
    EXPECT_EQ(harness.shown(std::string(long_message) +
                            "(try (content (dict \"status\" \"FAILED\" \"content\" long)) "
                            "(catch (e) (string-ends-with? (get e 'message) long)))"),
              "true");
    EXPECT_EQ(harness.shown("(try (error \"short\") (catch (e) (get e 'message)))"), "\"short\"");
}

TEST(long_steps, a_recorded_error_keeps_its_whole_message) {
    lang_harness harness;
    heap& memory = harness.harness.memory();
    const value whole = text(memory, "some words, ", 300'000);
    const error raised = error_with_message(errc::user, whole, std::make_shared<script_payload>());
    const std::string bytes = encode_error(raised);
    const auto read = decode_answer(memory, bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(), raised.message());
    EXPECT_EQ(string_bytes(whole_message_of(read.error())), string_bytes(whole));
}

// Replays cut what had been whole in the run.
TEST(long_steps, a_recorded_error_that_was_not_cut_is_not_cut) {
    lang_harness harness;
    const std::string whole(300'000, 'x');
    const error raised = error(errc::task, whole).with_payload(std::make_shared<script_payload>());
    const auto read = decode_answer(harness.harness.memory(), encode_error(raised));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message(), whole);
    EXPECT_TRUE(whole_message_of(read.error()).is_nil());
}

TEST(long_steps, a_million_data_of_an_error_are_copied_in_turns) {
    lang_harness harness;
    EXPECT_EQ(harness.shown("(try (apply error \"no\" (range 600000)) "
                            "(catch (e) (length (get e 'data))))"),
              "600000");
    EXPECT_GT(harness.runs, 20);
}

TEST(long_steps, large_blocks_are_freed_in_turns) {
    if (sanitizers::is_watching) GTEST_SKIP() << "blocks are not made smaller in place";
    const heap_owner memory(heap::create());
    for (const bool list : {false, true}) {
        value large = list ? make_list_with_capacity(*memory, 4 * mebibyte)
                           : make_string_with_capacity(*memory, 64 * mebibyte);
        const std::size_t used = memory->used();
        ASSERT_GE(used, 64 * mebibyte);
        memory->begin_turn();
        large.set_nil();
        std::size_t turns = 1;
        for (std::size_t before = used; memory->has_dead(); before = memory->used(), ++turns) {
            ASSERT_LE(before - memory->used(), 6 * mebibyte);
            memory->begin_turn();
        }
        EXPECT_GE(turns, 10U);
        EXPECT_EQ(memory->used(), 0U);
    }
}

TEST(long_steps, dead_blocks_make_room_at_once_where_it_is_needed) {
    if (sanitizers::is_watching) GTEST_SKIP() << "blocks are not made smaller in place";
    const heap_owner memory(heap::create());
    value large = make_string_with_capacity(*memory, 64 * mebibyte);
    memory->set_limit(65 * mebibyte);
    large.set_nil();
    EXPECT_TRUE(memory->has_dead());
    EXPECT_TRUE(memory->can_allocate(60 * mebibyte));
    EXPECT_FALSE(memory->has_dead());
}

/// Code of which a part was done in one go.
constexpr const char* large_codes[] = {
    "(list 'lambda names 1)",
    "(list 'lambda (take names 50000) 1)",
    "(cons 'progn (map (lambda (name) (list 'define name 1)) names))",
};

TEST(long_steps, very_many_names_are_compiled_in_turns) {
    for (const char* code : large_codes) {
        lang_harness harness;
        (void)harness.shown(
            "(define names (map (lambda (i) (string->symbol (format \"n{}\" i))) "
            "(range 100000)))");
        (void)harness.shown("(define code " + std::string(code) + ")");
        const std::string shown = harness.shown("(try (progn (eval code) 1) (catch (e) 2))");
        EXPECT_EQ(shown.size(), 1U) << shown;
        const std::int64_t runs = harness.runs;
        EXPECT_GT(runs, 60) << code;
        schedule how; // also what is cleared away at the end does not hold it up
        for (const std::int64_t at : {runs / 2, runs - 3}) {
            how.cancel_at = at;
            EXPECT_TRUE(harness.shown("(eval code)", how).starts_with("Cancelled")) << code;
            EXPECT_LE(harness.runs, at + 3) << code;
        }
    }
}

TEST(long_steps, results_of_a_map_are_in_their_places_whatever_ends_first) {
    lang_harness harness;
    schedule how;
    how.split = true;
    EXPECT_EQ(harness.shown("(map (lambda (i) (pause (- 40 i)) i) (range 40))", how),
              harness.shown("(range 40)"));
    EXPECT_EQ(harness.shown("(length (map-settled (lambda (i) (if (= i 3) (error \"no\") i)) "
                            "(range 3000)))",
                            how),
              "3000");
    EXPECT_EQ(harness.shown("(map (lambda (i) i) '())"), "()");
}

} // namespace
} // namespace heddle::lang::testing
