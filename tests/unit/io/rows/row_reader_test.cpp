#include "rows_fixture.hpp"

#include <packed_bytes.hpp>

#include <sys/stat.h>

#include <set>

namespace heddle::rows {
namespace {

using row_reading = rows_fixture;

TEST_F(row_reading, jsonl_becomes_canonical_objects) {
    const auto all = read_file("a.jsonl",
                               "\xEF\xBB\xBF{ \"a\" : 1.50, \"b\":[1, {\"c\":null}] }\r\n"
                               "\n  \n"
                               "3\n\"x\\u0041\\n\"\n[true, false]");
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.rows, (lines{R"({"a":1.50,"b":[1,{"c":null}]})", R"({"value":3})",
                               R"({"value":"xA\n"})", R"({"value":[true,false]})"}));
    EXPECT_EQ(origin_of(all.items[1]).line, 4U);
    EXPECT_EQ(origin_of(all.items[1]).number, 1U);
    EXPECT_EQ(origin_of(all.items[1]).id.substr(0, 2), "1:");
    EXPECT_EQ(origin_of(all.items[1]).id.size(), 14U);
}

TEST_F(row_reading, bad_json_names_file_line_and_column) {
    const auto all = read_file("a.jsonl",
                               "{\"a\":1,\"a\":2}\n{\"a\":1} x\n{\"é\":NaN}\n{\"a\":\n"
                               "{\"a\":\"\xFF\"}\n{\"a\":\"\\ud83e\"}\n{}\n{\"b\":{\"c\":1,"
                               "\"d\":{\"c\":1},\"c\":2}}\n");
    EXPECT_EQ(all.failure, "");
    ASSERT_EQ(all.rows.size(), 8U);
    EXPECT_EQ(all.rows[0], "! a.jsonl, line 1: the key \"a\" is in an object twice");
    EXPECT_EQ(all.rows[1], "! a.jsonl, line 2, column 9: more text after the JSON value");
    EXPECT_TRUE(all.rows[2].starts_with("! a.jsonl, line 3, column 6: invalid JSON"))
        << all.rows[2];
    EXPECT_TRUE(all.rows[3].starts_with("! a.jsonl, line 4, column 6: the line ends inside"))
        << all.rows[3];
    EXPECT_EQ(all.rows[4], "! a.jsonl, line 5, column 7: invalid UTF-8");
    EXPECT_EQ(all.rows[5], "! a.jsonl, line 6, column 13: invalid JSON: syntax error");
    EXPECT_EQ(all.rows[6], "{}");
    EXPECT_EQ(all.rows[7], "! a.jsonl, line 8: the key \"c\" is in an object twice");
    for (const auto& item : all.items)
        if (const auto* bad = std::get_if<bad_row>(&item)) {
            EXPECT_NE(bad->problem.info().hint, "") << bad->problem.message();
            EXPECT_EQ(bad->content, digest_of_content(bad->raw));
        }
    EXPECT_EQ(std::get<bad_row>(all.items[3]).raw, "{\"a\":");
}

TEST_F(row_reading, numbers_that_no_program_can_hold_name_their_place) {
    const auto all =
        read_file("a.jsonl",
                  "{}\n{\"a\": [1, -1e400]}\n{\"a\":1.7976931348623157e308}\n"
                  "{\"a\":1.7976931348623159e308}\n{\"a\":1e-400}\n{\"a\":" +
                      std::string(400, '9') + "}\n{\"b\": 0." +
                      std::string(std::size_t{1} << 20, '1') + "}\n18446744073709551616\n");
    EXPECT_EQ(all.failure, "");
    ASSERT_EQ(all.rows.size(), 8U);
    EXPECT_EQ(all.rows[1], "! a.jsonl, line 2, column 11: the number is too large");
    EXPECT_EQ(all.rows[2], R"({"a":1.7976931348623157e308})");
    EXPECT_EQ(all.rows[3], "! a.jsonl, line 4, column 6: the number is too large");
    EXPECT_EQ(all.rows[4], R"({"a":1e-400})");
    EXPECT_EQ(all.rows[5], "! a.jsonl, line 6, column 6: the number is too large");
    EXPECT_EQ(all.rows[6], "! a.jsonl, line 7, column 7: a number of more than 1048576 bytes");
    EXPECT_EQ(all.rows[7], R"({"value":18446744073709551616})");
}

// They were not JSON.
TEST_F(row_reading, exponents_of_any_length_are_read) {
    const auto all =
        read_file("a.jsonl",
                  "{\"a\": [1, 1e99999999999999999999]}\n{\"a\":1e-99999999999999999999}\n"
                  "{\"a\":0e99999999999}\n{\"e\\\"9\":\"1e99999999999\",\"a\":-0.0E+2147483649}\n"
                  "{\"a\":1e-2147483649,\"b\":1e-99999999999,\"c\":x}\n-1e2147483647\n");
    EXPECT_EQ(all.failure, "");
    ASSERT_EQ(all.rows.size(), 6U);
    EXPECT_EQ(all.rows[0], "! a.jsonl, line 1, column 11: the number is too large");
    EXPECT_EQ(all.rows[1], R"({"a":1e-00000000000099999999})");
    EXPECT_EQ(all.rows[2], R"({"a":0e00099999999})");
    EXPECT_EQ(all.rows[3], R"({"e\"9":"1e99999999999","a":-0.0E+0099999999})");
    EXPECT_EQ(all.rows[4], "! a.jsonl, line 5, column 43: invalid JSON: syntax error");
    EXPECT_EQ(all.rows[5], "! a.jsonl, line 6, column 1: the number is too large");
}

TEST_F(row_reading, nesting_is_bounded) {
    const auto all = read_file("a.jsonl", std::string(64, '[') + std::string(64, ']') + "\n" +
                                              std::string(100'000, '[') + "\n{}\n");
    ASSERT_EQ(all.rows.size(), 3U);
    EXPECT_TRUE(all.rows[0].starts_with("{\"value\":[[")) << all.rows[0];
    EXPECT_EQ(all.rows[1], "! a.jsonl, line 2, column 65: the JSON value is nested too deeply");
    EXPECT_EQ(all.rows[2], "{}");
}

TEST_F(row_reading, csv_has_quotes_line_feeds_and_both_line_ends) {
    const auto all = read_file("a.csv",
                               "\xEF\xBB\xBF\"id\",text\r\n1,\"a \"\"b\"\", c\nd\"\r\n\n"
                               "2,5\" disk\r\n3,\n4,\"x\"");
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.rows,
              (lines{R"({"id":"1","text":"a \"b\", c\nd"})", R"({"id":"2","text":"5\" disk"})",
                     R"({"id":"3","text":""})", R"({"id":"4","text":"x"})"}));
    EXPECT_EQ(origin_of(all.items[0]).line, 2U);
    EXPECT_EQ(origin_of(all.items[1]).line, 5U);
}

TEST_F(row_reading, a_byte_order_mark_before_a_quoted_line_feed_is_passed_over) {
    const auto all = read_file("a.csv", "\xEF\xBB\xBF\"a\nb\",c\n1,2\n");
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.rows, (lines{R"({"a\nb":"1","c":"2"})"}));
}

TEST_F(row_reading, bad_records_name_what_was_expected) {
    const auto all =
        read_file("a.tsv", "a\tb\n1\n1\t2\t3\n1\t\"x\"y\n\xFF\t1\nok\tok\n1\t\"open\n\n");
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.rows, (lines{"! a.tsv, line 2: expected 2 columns but found 1",
                               "! a.tsv, line 3: expected 2 columns but found 3",
                               "! a.tsv, line 4: text after the closing quote of field 2",
                               "! a.tsv, line 5, column 1: invalid UTF-8", R"({"a":"ok","b":"ok"})",
                               "! a.tsv, line 7: the quote that opens field 2 is not closed before "
                               "the end of the file"}));
}

TEST_F(row_reading, headers_are_checked) {
    EXPECT_EQ(read_file("a.csv", "a,b,a\n").failure,
              "a.csv, line 1: two columns have the name \"a\"");
    // The whole file was taken for the header, and no row was found.
    EXPECT_EQ(read_file("a.csv", "a,b\r1,2\r").failure,
              "a.csv, line 1: column 2 has a carriage return in its name");
    EXPECT_EQ(read_file("a.csv", "a,,b\n").failure, "a.csv, line 1: column 2 has no name");
    EXPECT_EQ(read_file("a.csv", "").failure, "a.csv: the file is empty");
    row_input input;
    input.files = {put("b.csv", "a,b\n1,2\n")};
    input.id_field = "key";
    EXPECT_NE(read(input).failure.find("no column has the name \"key\""), std::string::npos);
}

TEST_F(row_reading, headers_are_checked_by_who_needs_them) {
    row_input input;
    input.files = {put("a.csv", "x,y\n1,2\n"), put("b.jsonl", "{\"z\": 1}\n"),
                   put("c.txt", "one\n")};
    std::vector<lines> seen;
    input.check_columns = [&](const std::vector<std::string>& columns) -> result<void> {
        seen.push_back(columns);
        if (columns == lines{"line"}) return error(errc::invalid_argument, "no x").with_hint("y");
        return {};
    };
    const auto all = read(input);
    EXPECT_EQ(all.rows, (lines{R"({"x":"1","y":"2"})", R"({"z":1})"}));
    EXPECT_TRUE(all.failure.ends_with("c.txt: no x")) << all.failure;
    EXPECT_EQ(seen, (std::vector<lines>{{"x", "y"}, {"line"}}));
}

TEST_F(row_reading, several_files_have_a_header_each_and_one_numbering) {
    row_input input;
    input.files = {put("a.csv", "x,y\n1,2\n"), put("b.csv.gz", loopback::packed("y\n3\n")),
                   put("c.jsonl.zst", zstd("{\"z\":1}\n") + zstd("{\"z\":2}\n")),
                   put("d.txt", "one\r\n\ntwo")};
    auto reader = row_reader::open(input);
    ASSERT_TRUE(reader);
    std::uint64_t total = 0;
    for (const auto& file : input.files) total += std::filesystem::file_size(file);
    EXPECT_EQ((*reader)->progress().total_bytes, total);
    const auto all = read(input);
    EXPECT_EQ(all.failure, "");
    EXPECT_EQ(all.rows, (lines{R"({"x":"1","y":"2"})", R"({"y":"3"})", R"({"z":1})", R"({"z":2})",
                               R"({"line":"one"})", R"({"line":"two"})"}));
    for (std::size_t i = 0; i < all.items.size(); ++i) EXPECT_EQ(origin_of(all.items[i]).number, i);
    EXPECT_EQ(*origin_of(all.items[5]).file, input.files[3]);
    EXPECT_EQ(origin_of(all.items[5]).line, 3U);
    while (true) {
        auto item = (*reader)->next();
        ASSERT_TRUE(item);
        if (!*item) break;
    }
    EXPECT_EQ((*reader)->progress().bytes, total);
    EXPECT_EQ((*reader)->progress().rows, 6U);
}

/// A file is read in large blocks; how far one is must follow the rows, or totals that are
/// estimated from it are far too low.
TEST_F(row_reading, progress_follows_the_rows) {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "{\"a\": " + std::to_string(1000 + i) + "}\n";
    row_input input;
    for (const std::string& file : {put("a.jsonl", text), put("b.jsonl.gz", loopback::packed(text)),
                                    put("c.jsonl.zst", zstd(text))}) {
        input.files = {file};
        auto reader = row_reader::open(input);
        ASSERT_TRUE(reader);
        for (int i = 1; i <= 2000; ++i) {
            ASSERT_TRUE((*reader)->next());
            const row_progress now = (*reader)->progress();
            const double share =
                static_cast<double>(now.bytes) / static_cast<double>(*now.total_bytes);
            ASSERT_NEAR(share, i / 2000.0, 0.02) << file << ", row " << i;
        }
    }
}

TEST_F(row_reading, ids_come_from_a_field) {
    row_input input;
    input.id_field = "id";
    input.files = {put("a.jsonl",
                       "{\"id\":\"k\",\"x\":{\"id\":9}}\n{\"id\":12.50}\n{\"x\":{\"id\":1}}\n"
                       "{\"id\":[1]}\n{\"id\":null}\n{\"id\":\"\"}\n7\n")};
    const auto all = read(input);
    ASSERT_EQ(all.items.size(), 7U);
    EXPECT_EQ(origin_of(all.items[0]).id, "k");
    EXPECT_EQ(origin_of(all.items[0]).id_digest, digest_of_id("k"));
    EXPECT_EQ(origin_of(all.items[1]).id, "12.50");
    EXPECT_NE(all.rows[2].find("the row has no field \"id\""), std::string::npos);
    EXPECT_NE(all.rows[3].find("is not a string or a number"), std::string::npos);
    EXPECT_NE(all.rows[4].find("is not a string or a number"), std::string::npos);
    EXPECT_NE(all.rows[5].find("is empty"), std::string::npos);
    EXPECT_NE(all.rows[6].find("the row has no field \"id\""), std::string::npos);
    EXPECT_EQ(origin_of(all.items[2]).id.substr(0, 2), "2:");
}

TEST_F(row_reading, digests_do_not_change_between_versions) {
    // sha256 of "heddle row id", a NUL and "17"; resumed runs look rows up by it.
    EXPECT_EQ(digest_of_id("17"), digest_of_id("17"));
    EXPECT_NE(digest_of_id("17"), digest_of_content("17"));
    EXPECT_EQ(digest_of_id("17").high, 0x99d27be3e0962e35ULL);
    EXPECT_EQ(digest_of_id("17").low, 0x6e071ef0f8829231ULL);
}

TEST_F(row_reading, a_limit_counts_what_is_delivered) {
    row_input input;
    input.files = {put("a.jsonl", "1\n{\n3\n4\n")};
    input.limit = 3;
    EXPECT_EQ(read(input).rows.size(), 3U);
    input.limit = 0;
    EXPECT_EQ(read(input).rows.size(), 0U);
}

TEST_F(row_reading, samples_are_the_same_for_a_seed) {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "{\"n\":" + std::to_string(i) + "}\n";
    row_input input;
    input.files = {put("a.jsonl", text)};
    const auto numbers = [&](const char* size, std::uint64_t seed) {
        input.sample = parse_row_sample(size, seed).value();
        std::set<std::uint64_t> taken;
        for (const auto& item : read(input).items) taken.insert(origin_of(item).number);
        return taken;
    };
    const auto hundred = numbers("100", 1);
    EXPECT_EQ(hundred.size(), 100U);
    EXPECT_EQ(numbers("100", 1), hundred);
    EXPECT_NE(numbers("100", 2), hundred);
    EXPECT_EQ(numbers("5000", 1).size(), 2000U);
    const auto tenth = numbers("10%", 1);
    EXPECT_GT(tenth.size(), 140U);
    EXPECT_LT(tenth.size(), 260U);
    EXPECT_EQ(numbers("0.1", 1), tenth);
    for (const std::uint64_t one : hundred) EXPECT_TRUE(tenth.contains(one));
    for (const char* wrong : {"", "0", "-1", "1.5", "0%", "101%", "x", "5 %", "nan"})
        EXPECT_FALSE(parse_row_sample(wrong)) << wrong;
}

TEST_F(row_reading, a_sample_of_a_number_needs_files) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    row_input input;
    input.files = {path("pipe")};
    input.sample = row_sample{std::uint64_t{5}, 0};
    EXPECT_NE(read(input).failure.find("can be read only once"), std::string::npos);
    input.files = {"-", "-"};
    input.sample.reset();
    EXPECT_EQ(read(input).failure, "standard input is named twice");
}

TEST_F(row_reading, files_that_cannot_be_rows_are_refused_at_once) {
    EXPECT_NE(read_file("a.json", "[]").failure.find("the extension is not"), std::string::npos);
    EXPECT_NE(read_file("a.csv.xz", "").failure.find("the extension is not"), std::string::npos);
    row_input input;
    input.files = {put("a.jsonl", "1\n"), path("none.jsonl")};
    EXPECT_NE(read(input).failure.find("none.jsonl: no such file"), std::string::npos);
    input.files = {folder.string()};
    EXPECT_NE(read(input).failure.find("a folder"), std::string::npos);
    input.files.clear();
    EXPECT_EQ(read(input).failure, "no file of rows");
}

TEST_F(row_reading, a_file_that_vanishes_is_an_error_at_its_place) {
    row_input input;
    input.files = {put("a.jsonl", "1\n"), put("b.jsonl", "2\n")};
    auto reader = row_reader::open(input);
    ASSERT_TRUE(reader);
    std::filesystem::remove(path("b.jsonl"));
    EXPECT_TRUE((*reader)->next());
    const auto failed = (*reader)->next();
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message().find("b.jsonl: no such file"), std::string::npos);
}

} // namespace
} // namespace heddle::rows
