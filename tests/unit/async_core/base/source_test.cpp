#include <heddle/base/source.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace heddle {
namespace {

std::string at(const source_map& map, std::uint32_t begin, std::uint32_t end = 0) {
    const source_location place = map.locate({begin, end});
    return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
           "|" + place.line_text + "|" + std::to_string(place.mark_begin) + "+" +
           std::to_string(place.mark_length);
}

TEST(source_map, positions_lead_back_to_their_text) {
    source_map map;
    const std::uint32_t first = map.add("a", "one\ntwo\r\n");
    const std::uint32_t second = map.add("b", "drei");
    EXPECT_NE(first, 0U);
    EXPECT_EQ(at(map, first), "a:1:1|one|0+1");
    EXPECT_EQ(at(map, first + 5, first + 7), "a:2:2|two|1+2");
    EXPECT_EQ(at(map, first + 9), "a:3:1||0+1"); // one past the end is a position too
    EXPECT_EQ(at(map, second + 2, second + 4), "b:1:3|drei|2+2");
    EXPECT_EQ(map.text({second + 1, second + 3}), "re");
    EXPECT_EQ(map.locate({}).line, 0U);
    EXPECT_EQ(map.locate({second + 100, second + 101}).line, 0U);
    EXPECT_EQ(map.text({}), "");
}

TEST(source_map, columns_count_characters) {
    source_map map;
    const std::uint32_t first = map.add("a", "żółw 🧵 x");
    EXPECT_EQ(at(map, first + 13, first + 14), "a:1:8|żółw 🧵 x|7+1");
}

TEST(source_map, places_in_long_texts_are_those_counted_from_the_beginning) {
    std::string text = "\xEF\xBB\xBF";
    for (std::size_t i = 0; text.size() < 40'000; ++i) {
        text += i % 3 == 0 ? "é" : "ab";
        if (i % 700 == 699) text += '\n';
        if (i == 4000) text.append(9'000, 'x'); // a line of several blocks
    }
    source_map map;
    map.add("a", "one\ntwo");
    const std::uint32_t first = map.add("b", text, 5);
    for (std::uint32_t at = 3; at <= text.size(); at += 7) {
        const text_place counted = place_of_byte(text, at);
        const source_place place = map.place_of({first + at, first + at});
        const source_location located = map.locate({first + at, first + at});
        ASSERT_EQ(place.file, "b");
        ASSERT_EQ(place.line, counted.line + 4) << at;
        ASSERT_EQ(place.column, counted.column) << at;
        ASSERT_EQ(located.line, place.line);
        ASSERT_EQ(located.column, place.column);
    }
    EXPECT_EQ(map.place_of({}).line, 0U);
}

TEST(source_map, a_byte_order_mark_is_no_column) {
    source_map map;
    const std::uint32_t first = map.add("a", "\xEF\xBB\xBF(x)\n y");
    EXPECT_EQ(at(map, first + 3, first + 6), "a:1:1|(x)|0+3");
    EXPECT_EQ(at(map, first + 5), "a:1:3|(x)|2+1");
    EXPECT_EQ(at(map, first + 8), "a:2:2| y|1+1");
    EXPECT_EQ(at(map, first), "a:1:1|(x)|0+1"); // the mark itself
    const std::uint32_t empty = map.add("b", "\xEF\xBB\xBF");
    EXPECT_EQ(at(map, empty + 3), "b:1:1||0+1");
}

TEST(source_map, a_part_of_a_file_keeps_its_line_numbers) {
    source_map map;
    const std::uint32_t first = map.add("a", "x\ny", 40);
    EXPECT_EQ(at(map, first + 2), "a:41:1|y|0+1");
}

TEST(source_map, a_mark_ends_with_its_line) {
    source_map map;
    const std::uint32_t first = map.add("a", "ab\ncd");
    EXPECT_EQ(at(map, first + 1, first + 5), "a:1:2|ab|1+1");
}

TEST(source_map, only_the_last_mebibyte_of_generated_code_is_kept) {
    source_map map;
    const std::uint32_t file = map.add("file", "kept");
    const std::string text(300 * 1024, 'x');
    std::vector<std::uint32_t> items;
    for (int i = 0; i < 8; ++i) items.push_back(map.add_generated("g", text));
    for (std::size_t i = 0; i < items.size(); ++i) {
        EXPECT_EQ(map.locate({items[i], items[i] + 1}).line, i + 3 < items.size() ? 0U : 1U) << i;
    }
    EXPECT_EQ(at(map, file), "file:1:1|kept|0+1");
    // A text that alone is over the limit has no positions; those before it stay.
    EXPECT_EQ(map.add_generated("g", std::string(1024 * 1024 + 1, 'x')), 0U);
    EXPECT_EQ(map.locate({items.back(), items.back() + 1}).line, 1U);
}

TEST(source_map, a_bounded_number_of_generated_texts_is_kept) {
    source_map map;
    const std::uint32_t first = map.add_generated("g", "a");
    std::uint32_t last = 0;
    for (int i = 0; i < 4096; ++i) last = map.add_generated("g", "b");
    EXPECT_EQ(map.locate({first, first + 1}).line, 0U);
    EXPECT_EQ(map.text({last, last + 1}), "b");
}

TEST(source_map, positions_for_generated_code_end_before_those_for_files) {
    source_map map;
    // Each gives up its place, but not its positions: a program may make code for very long.
    const std::string text(1024 * 1024, 'x');
    int given = 0;
    while (map.add_generated("g", text) != 0) ++given;
    EXPECT_EQ(given, 3 * 1024 - 1); // 3 GiB of positions
    const std::uint32_t file = map.add("file", "still");
    ASSERT_NE(file, 0U);
    EXPECT_EQ(at(map, file), "file:1:1|still|0+1");
    // 1 GiB is left. What is not the last is dropped without its positions.
    constexpr std::size_t large = 64 * 1024 * 1024;
    std::uint32_t last = map.add("large", std::string(large, 'x'));
    int added = 0;
    for (std::uint32_t next = last; next != 0; ++added) {
        next = map.add("large", std::string(large, 'x'));
        if (next != 0) map.drop_last(std::exchange(last, next));
    }
    EXPECT_EQ(added, 16); // the last of them was refused
    EXPECT_EQ(map.text({last, last + 3}), "xxx");
    EXPECT_NE(map.add("small", "y"), 0U);
}

TEST(source_map, dropped_code_makes_room_for_other) {
    source_map map;
    const std::string text(600 * 1024, 'x');
    for (int i = 0; i < 4; ++i) { // as the last, whose positions are given out again
        const std::uint32_t result = map.add_generated("g", text);
        ASSERT_EQ(map.text({result, result + 1}), "x") << i;
        map.drop_last(result);
    }
    for (int i = 0; i < 4; ++i) { // and not as the last
        const std::uint32_t result = map.add_generated("g", text);
        const std::uint32_t file = map.add("file", "kept");
        ASSERT_EQ(map.text({result, result + 1}), "x") << i;
        map.drop_last(result);
        EXPECT_EQ(map.text({file, file + 4}), "kept");
    }
    const std::uint32_t last = map.add_generated("g", "last");
    EXPECT_EQ(map.text({last, last + 4}), "last");
}

TEST(source_map, a_span_ends_with_its_text) {
    source_map map;
    const std::uint32_t first = map.add("a", "one");
    const std::uint32_t second = map.add("b", "two");
    EXPECT_EQ(map.text({first + 1, second + 2}), "ne");
    EXPECT_EQ(map.text({first + 2, first + 1}), "");
    EXPECT_EQ(at(map, first + 1, second + 2), "a:1:2|one|1+2");
}

TEST(source_span, is_known_when_it_has_a_position) {
    EXPECT_FALSE(source_span{}.known());
    EXPECT_TRUE((source_span{1, 1}.known()));
    EXPECT_EQ((source_span{1, 2}), (source_span{1, 2}));
    EXPECT_NE((source_span{1, 2}), (source_span{1, 3}));
}

TEST(columns_before, counts_characters_from_the_beginning_of_the_line) {
    const std::string_view text = "\xEF\xBB\xBFé\nżx";
    EXPECT_EQ(columns_before(text, 0, 0), 0U);
    EXPECT_EQ(columns_before(text, 0, 3), 0U);
    EXPECT_EQ(columns_before(text, 0, 5), 1U);
    EXPECT_EQ(columns_before(text, 6, 8), 1U);
    EXPECT_EQ(columns_before(text, 6, 9), 2U);
    EXPECT_EQ(columns_before(text, 6, 6), 0U);
}

TEST(source_map, reuses_the_positions_of_a_dropped_source_if_it_was_the_last) {
    source_map map;
    const std::uint32_t first = map.add("a", "one");
    const std::uint32_t second = map.add("b", "two");
    map.drop_last(second);
    EXPECT_EQ(map.locate({second, second + 1}).line, 0U);
    EXPECT_EQ(map.add("c", "three"), second);
    map.drop_last(first); // another place: what points there is unknown from now on
    EXPECT_EQ(map.locate({first, first + 1}).line, 0U);
    EXPECT_GT(map.add("d", "four"), second);
    map.drop_last(0);
    EXPECT_EQ(map.text({second, second + 5}), "three");
}

TEST(place_of_byte, counts_lines_and_characters) {
    EXPECT_EQ(place_of_byte("", 0).line, 1U);
    EXPECT_EQ(place_of_byte("", 0).column, 1U);
    const std::string_view text = "\xEF\xBB\xBFé\nżx";
    EXPECT_EQ(place_of_byte(text, 3).column, 1U);
    EXPECT_EQ(place_of_byte(text, 5).column, 2U);
    EXPECT_EQ(place_of_byte(text, 6).line, 2U);
    EXPECT_EQ(place_of_byte(text, 8).column, 2U);
    EXPECT_EQ(place_of_byte(text, 1000).column, 3U); // behind the end: its end
}

} // namespace
} // namespace heddle
