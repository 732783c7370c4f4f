#include "rows_fixture.hpp"

#include <packed_bytes.hpp>

#include <algorithm>
#include <random>

namespace heddle::rows {
namespace {

using hostile_rows = rows_fixture;

TEST_F(hostile_rows, overlong_rows_are_skipped_and_reading_goes_on) {
    row_input input;
    input.max_row_bytes = 1000;
    input.max_raw_bytes = 10;
    const std::string longest = "\"" + std::string(998, 'x') + "\"";
    const std::string longer = "\"" + std::string(300'000, 'y') + "\"";
    input.files = {
        put("a.jsonl", longest + "\r\n" + longer + "\n3\n"),
        put("b.csv", "a,b\n1," + longer + "\n\"" + std::string(2000, '\n') + "\",2\n3,4\n"),
        put("c.txt", std::string(5000, 'z'))};
    const auto all = read(input);
    EXPECT_EQ(all.failure, "");
    ASSERT_EQ(all.rows.size(), 7U);
    EXPECT_EQ(all.rows[0], "{\"value\":" + longest + "}");
    EXPECT_NE(all.rows[1].find("line 2: the row has 300003 bytes; the limit is 1000"),
              std::string::npos)
        << all.rows[1];
    EXPECT_EQ(all.rows[2], "{\"value\":3}");
    EXPECT_NE(all.rows[3].find("the limit is 1000"), std::string::npos);
    EXPECT_NE(all.rows[4].find("line 3: the row has 2005 bytes"), std::string::npos) << all.rows[4];
    EXPECT_EQ(all.rows[5], R"({"a":"3","b":"4"})");
    EXPECT_EQ(origin_of(all.items[5]).line, 2004U);
    EXPECT_NE(all.rows[6].find("the limit is 1000"), std::string::npos);
    const auto& bad = std::get<bad_row>(all.items[1]);
    EXPECT_EQ(bad.raw, "\"yyyyyyyyy");
    EXPECT_TRUE(bad.raw_cut);
    EXPECT_EQ(bad.problem.code(), make_error_code(errc::limit_exceeded));
}

TEST_F(hostile_rows, bombs_use_no_memory) {
    row_input input;
    input.max_row_bytes = 100'000;
    const std::string zeros(64 * 1024 * 1024, ' ');
    input.files = {put("a.txt.gz", loopback::packed("first\n" + zeros + "\nlast\n")),
                   put("b.txt.zst", zstd("first\n" + zeros + "\nlast\n"))};
    EXPECT_LT(std::filesystem::file_size(path("a.txt.gz")), 100'000U);
    const auto all = read(input);
    EXPECT_EQ(all.failure, "");
    ASSERT_EQ(all.rows.size(), 6U);
    for (const std::size_t at : {0U, 3U}) {
        EXPECT_EQ(all.rows[at], R"({"line":"first"})");
        EXPECT_NE(all.rows[at + 1].find("has 67108865 bytes"), std::string::npos)
            << all.rows[at + 1];
        EXPECT_EQ(all.rows[at + 2], R"({"line":"last"})");
        EXPECT_LE(std::get<bad_row>(all.items[at + 1]).raw.size(), input.max_raw_bytes);
    }
}

/// Every cut of a compressed file delivers a prefix of its rows and then an error.
TEST_F(hostile_rows, truncated_compression_is_an_error_after_the_good_rows) {
    std::string text;
    std::minstd_rand random(1);
    lines expected;
    for (int i = 0; i < 40; ++i) {
        const std::string line = std::to_string(random());
        text += line + "\n";
        expected.push_back("{\"value\":" + line + "}");
    }
    for (const bool gzip : {true, false}) {
        const std::string packed = gzip ? loopback::packed(text) : zstd(text);
        for (std::size_t size = 4; size < packed.size(); ++size) {
            const auto all = read_file("cut.jsonl", std::string_view(packed).substr(0, size));
            EXPECT_NE(all.failure.find("the compressed data end too early"), std::string::npos)
                << size << " " << all.failure;
            ASSERT_LE(all.rows.size(), expected.size());
            EXPECT_TRUE(std::equal(all.rows.begin(), all.rows.end(), expected.begin())) << size;
        }
        EXPECT_EQ(read_file("cut.jsonl", packed).rows, expected);
    }
    const std::string two = loopback::packed("1\n") + loopback::packed("2\n");
    const auto all = read_file("cut.jsonl", std::string_view(two).substr(0, two.size() - 3));
    ASSERT_GE(all.rows.size(), 1U);
    EXPECT_EQ(all.rows[0], "{\"value\":1}");
    EXPECT_NE(all.failure, "");
    EXPECT_EQ(read_file("padded.jsonl", two + std::string(512, '\0')).rows.size(), 2U);
    EXPECT_NE(read_file("padded.jsonl", two + "garbage").failure, "");
}

// A file without the first bytes of its compression was read as one without rows.
TEST_F(hostile_rows, a_compressed_file_without_a_beginning_ends_too_early) {
    const std::vector<std::pair<std::string, std::string>> files{
        {"cut.jsonl.gz", loopback::packed("1\n")},
        {"CUT.CSV.GZ", loopback::packed("a,b\n1,2\n")},
        {"cut.jsonl.zst", zstd("1\n")}};
    for (const auto& [name, packed] : files) {
        for (std::size_t size = 0; size <= 4; ++size) {
            const auto all = read_file(name, std::string_view(packed).substr(0, size));
            EXPECT_EQ(all.failure, name + ": the compressed data end too early, after byte " +
                                       std::to_string(size));
            EXPECT_TRUE(all.rows.empty()) << name << " " << size;
        }
        EXPECT_EQ(read_file(name, packed).failure, "");
    }
    EXPECT_EQ(read_file("empty.jsonl", "").failure, "");
    EXPECT_EQ(read_file("empty.txt", "").failure, "");
    // What was decompressed and has kept its name is read as it is.
    EXPECT_EQ(read_file("plain.jsonl.gz", "1\n").rows, lines{"{\"value\":1}"});
    EXPECT_EQ(read_file("plain.jsonl.zst", "1\n").rows, lines{"{\"value\":1}"});
}

/// Every cut of a plain file is read to its end, and the rows before the last are those of the
/// whole.
TEST_F(hostile_rows, every_cut_of_a_text_is_read) {
    const std::vector<std::pair<std::string, std::string>> files{
        {"a.jsonl", "\xEF\xBB\xBF{\"a\":\"\\u00e9\xC3\xA9\\\"\"}\r\n\n[1,2.5e3]\n{\"b\":{}}\n"},
        {"a.csv", "a,\"b\nc\"\r\n\"x\"\"y\",\"1\r\n2\"\r\n3,\xC3\xA9\n"},
        {"a.tsv", "\xEF\xBB\xBFk\tv\n\"a\tb\"\t2\n3\t4"},
        {"a.txt", "one\r\n\xE2\x82\xAC\n\nthree"}};
    for (const auto& [name, text] : files) {
        const auto whole = read_file(name, text);
        EXPECT_EQ(whole.failure, "");
        for (const std::string& line : whole.rows) EXPECT_TRUE(line.starts_with('{')) << line;
        for (std::size_t size = 0; size <= text.size(); ++size) {
            const auto all = read_file(name, std::string_view(text).substr(0, size));
            ASSERT_LE(all.rows.size(), whole.rows.size()) << name << " " << size;
            if (all.rows.size() < 2) continue;
            EXPECT_TRUE(std::equal(all.rows.begin(), all.rows.end() - 1, whole.rows.begin()))
                << name << " " << size;
        }
    }
}

/// What a row is does not depend on where the blocks of a file end: the same bytes come through a
/// decompressor in other blocks, and from a pipe byte by byte.
TEST_F(hostile_rows, random_bytes_are_rows_bad_rows_or_one_error) {
    const std::string pieces[] = {"\"",
                                  ",",
                                  "\n",
                                  "\r\n",
                                  "\t",
                                  "{",
                                  "}",
                                  "[",
                                  "]",
                                  ":",
                                  "a",
                                  "1",
                                  "\xC3",
                                  "\xA9",
                                  std::string(1, '\0'),
                                  "\\u",
                                  "d83e",
                                  "null",
                                  "\xEF\xBB\xBF",
                                  "\x1F\x8B",
                                  "\x28\xB5\x2F\xFD",
                                  " ",
                                  "-",
                                  "e9"};
    std::minstd_rand random(7);
    for (int round = 0; round < 1500; ++round) {
        std::string text;
        for (auto left = random() % 40; left > 0; --left)
            text += pieces[random() % std::size(pieces)];
        for (const char* name : {"a.jsonl", "a.csv", "a.tsv", "a.txt"}) {
            const auto all = read_file(name, text);
            for (const auto& item : all.items) {
                if (const auto* bad = std::get_if<bad_row>(&item)) {
                    EXPECT_NE(bad->problem.info().hint, "");
                    EXPECT_NE(text.find(bad->raw), std::string::npos);
                    continue;
                }
                const auto& good = std::get<row>(item);
                ASSERT_EQ(good.json.find('\n'), std::string::npos);
                // What was read once reads the same again.
                const auto again = read_file("again.jsonl", good.json);
                ASSERT_EQ(again.rows.size(), 1U) << good.json;
                EXPECT_EQ(again.rows[0], good.json);
                EXPECT_EQ(origin_of(again.items[0]).content, good.content);
            }
            if (text.starts_with("\x1F\x8B") || text.starts_with("\x28\xB5\x2F\xFD")) continue;
            put("packed", loopback::packed(text, loopback::gzip_frame, 1));
            std::filesystem::rename(path("packed"), path(name));
            row_input input;
            input.files = {path(name)};
            auto packed = read(input);
            for (std::string& line : packed.rows) shorten(line);
            EXPECT_EQ(packed.rows, all.rows);
        }
    }
}

TEST_F(hostile_rows, damaged_compression_ends_with_an_error_or_rows) {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "{\"n\":" + std::to_string(i * 7919) + "}\n";
    std::minstd_rand random(11);
    for (const bool gzip : {true, false}) {
        const std::string packed = gzip ? loopback::packed(text) : zstd(text);
        int failed = 0;
        for (int round = 0; round < 500; ++round) {
            std::string damaged = packed;
            damaged[4 + random() % (damaged.size() - 4)] ^= static_cast<char>(1 + random() % 255);
            if (!read_file("a.jsonl", damaged).failure.empty()) ++failed;
        }
        // gzip has a checksum, and zstd's frames here have none: most damage is noticed.
        EXPECT_GT(failed, gzip ? 450 : 50);
    }
}

} // namespace
} // namespace heddle::rows
