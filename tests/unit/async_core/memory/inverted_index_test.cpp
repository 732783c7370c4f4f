#include "memory/index/inverted_index.hpp"

#include "memory/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace heddle::memory {
namespace {

using ports::matching_strategy;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

prepared_file file(std::string path, std::string_view text, std::string metadata = "",
                   std::int64_t modified = 1) {
    prepared_file prepared;
    prepared.path_terms = count_terms(path, max_tokens);
    prepared.path = std::move(path);
    prepared.metadata_terms = count_terms(metadata, max_tokens);
    prepared.metadata = std::move(metadata);
    prepared.content_terms = count_terms(text, max_tokens);
    prepared.stamp = {modified, text.size()};
    return prepared;
}

index_query words(std::string_view text, matching_strategy strategy = matching_strategy::content,
                  std::size_t limit = 100) {
    index_query query;
    token_list tokens;
    append_tokens(text, tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) query.terms.push_back({std::string(tokens[i])});
    query.strategy = strategy;
    query.limit = limit;
    return query;
}

std::vector<std::string> paths(const inverted_index& index, const index_query& query) {
    std::vector<std::string> found;
    for (const ranked_file& one : index.query(query)) found.push_back(index.file(one.file).path);
    return found;
}

/// Paths with scores, for comparisons.
std::map<std::string, double> scores(const inverted_index& index, const index_query& query) {
    std::map<std::string, double> found;
    for (const ranked_file& one : index.query(query)) {
        found[index.file(one.file).path] = one.score;
    }
    return found;
}

TEST(inverted_index, ranks_by_rarity_frequency_and_length) {
    inverted_index index;
    std::string filler;
    for (int i = 0; i < 40; ++i)
        filler += "word" + std::string(1, static_cast<char>('a' + i % 20)) + " ";
    index.put(file("/once", "loom " + filler));
    index.put(file("/often", "loom loom loom " + filler));
    index.put(file("/short", "loom"));
    index.put(file("/none", filler));
    index.put(file("/rare", "heddle " + filler));
    EXPECT_THAT(paths(index, words("loom")), ElementsAre("/short", "/often", "/once"));
    // heddle is in one file, loom in three: the rarer word weighs more.
    EXPECT_EQ(paths(index, words("loom heddle")).front(), "/rare");
    EXPECT_THAT(paths(index, words("absent")), IsEmpty());
    EXPECT_THAT(paths(index, words("")), IsEmpty());
    EXPECT_THAT(paths(index, words("loom", matching_strategy::content, 2)),
                ElementsAre("/short", "/often"));
    EXPECT_THAT(paths(index, words("loom", matching_strategy::content, 0)), IsEmpty());
}

TEST(inverted_index, fields_have_weights_and_strategies) {
    inverted_index index;
    index.put(file("/a/parser.cpp", "nothing here", "reads text"));
    index.put(file("/b/other.cpp", "nothing here", "the parser of names"));
    index.put(file("/c/third.cpp", "parser nothing", "prints"));
    EXPECT_THAT(paths(index, words("parser")),
                ElementsAre("/a/parser.cpp", "/b/other.cpp", "/c/third.cpp"));
    EXPECT_THAT(paths(index, words("parser", matching_strategy::metadata)),
                ElementsAre("/a/parser.cpp", "/b/other.cpp"));
}

TEST(inverted_index, scores_are_from_0_to_1_and_ties_go_by_path) {
    inverted_index index;
    for (const char* path : {"/z", "/m", "/a"}) index.put(file(path, "same words"));
    EXPECT_THAT(paths(index, words("same")), ElementsAre("/a", "/m", "/z"));
    index.put(file("/same/same", "same same same same", "same same"));
    for (const auto& [path, score] : scores(index, words("same words"))) {
        EXPECT_GT(score, 0) << path;
        EXPECT_LE(score, 1) << path;
    }
}

TEST(inverted_index, descriptions_come_and_go_without_the_text) {
    inverted_index index;
    index.put(file("/f", "content words", "first description"));
    index.set_metadata("/f", "second thing");
    EXPECT_THAT(paths(index, words("first")), IsEmpty());
    EXPECT_THAT(paths(index, words("second")), ElementsAre("/f"));
    EXPECT_THAT(paths(index, words("content")), ElementsAre("/f"));
    // What was given is not taken back by reading the file again.
    index.put(file("/f", "new words", "made up", 2));
    EXPECT_THAT(paths(index, words("made")), IsEmpty());
    EXPECT_THAT(paths(index, words("second")), ElementsAre("/f"));
    EXPECT_THAT(paths(index, words("content")), IsEmpty());
    index.set_metadata("/only", "described alone");
    EXPECT_THAT(paths(index, words("alone")), ElementsAre("/only"));
    EXPECT_FALSE(index.find("/only")->has_content);
    EXPECT_TRUE(index.remove("/f"));
    EXPECT_FALSE(index.remove("/f"));
    EXPECT_EQ(index.size(), 1U);
    EXPECT_EQ(index.find("/f"), nullptr);
}

/// A text of words that depend on the number alone.
std::string text_of(unsigned number) {
    std::string text;
    std::uint32_t state = number * 2654435761U + 1;
    for (int i = 0; i < 30; ++i) {
        state = state * 1664525U + 1013904223U;
        text +=
            "w" + std::string(1 + (state >> 30), 'x') + std::to_string((state >> 16) % 50) + " ";
    }
    return text;
}

TEST(inverted_index, what_was_changed_equals_what_was_built_at_once) {
    inverted_index changed;
    std::map<std::string, unsigned> there;
    std::uint32_t state = 7;
    // Enough to make it compact several times.
    for (int step = 0; step < 12'000; ++step) {
        state = state * 1664525U + 1013904223U;
        const std::string path =
            "/d" + std::to_string((state >> 8) % 7) + "/f" + std::to_string((state >> 16) % 300);
        if ((state >> 28) < 3) {
            changed.remove(path);
            there.erase(path);
        } else {
            changed.put(file(path, text_of(state), "about " + text_of(state / 2)));
            there[path] = state;
        }
    }
    inverted_index built;
    for (const auto& [path, number] : there) {
        built.put(file(path, text_of(number), "about " + text_of(number / 2)));
    }
    ASSERT_EQ(changed.size(), built.size());
    for (const char* query : {"wx1", "wxx7 wx3 f12", "about d3", "wxxx49 absent wx20 wx21"}) {
        EXPECT_EQ(scores(changed, words(query)), scores(built, words(query))) << query;
        EXPECT_EQ(paths(changed, words(query)), paths(built, words(query))) << query;
    }
    EXPECT_LT(changed.memory_bytes(), 4 * built.memory_bytes());
}

TEST(inverted_index, lists_keep_their_slots_and_counts) {
    posting_list list;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted;
    std::uint32_t slot = 0;
    for (std::uint32_t i = 0; i < 3000; ++i) {
        slot += 1 + (i % 7 == 0 ? 100'000 : i % 3);
        wanted.emplace_back(slot, 1 + i % 300 * (i % 2));
        list.append(wanted.back().first, wanted.back().second);
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    list.each([&](std::uint32_t at, std::uint32_t count) { found.emplace_back(at, count); });
    EXPECT_EQ(found, wanted);
    posting_list copy;
    ASSERT_TRUE(copy.assign(list.bytes(), slot + 1));
    EXPECT_EQ(copy.bytes(), list.bytes());
    EXPECT_FALSE(copy.assign(list.bytes(), slot));
    EXPECT_FALSE(copy.assign("\x80", 10));
    EXPECT_FALSE(copy.assign(std::string_view("\x80\x00", 2), 10));
}

inverted_index small_index() {
    inverted_index index;
    index.put(file("/src/a.cpp", "reads a file", "a reader", 17));
    index.put(file("/src/b.cpp", "writes a file file", "a writer", -3));
    index.put(file("/src/gone.cpp", "gone file"));
    index.set_metadata("/src/c.cpp", "described");
    index.remove("/src/gone.cpp");
    return index;
}

TEST(snapshots, are_opened_as_they_were_saved) {
    inverted_index index = small_index();
    const auto before = scores(index, words("file reader described src"));
    const std::string bytes = write_snapshot(index);
    EXPECT_EQ(scores(index, words("file reader described src")), before);
    auto opened = read_snapshot(bytes);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(opened->size(), 3U);
    EXPECT_EQ(scores(*opened, words("file reader described src")), before);
    EXPECT_EQ(opened->find("/src/b.cpp")->stamp, (file_stamp{-3, 18}));
    EXPECT_EQ(opened->find("/src/b.cpp")->metadata, "a writer");
    EXPECT_FALSE(opened->find("/src/c.cpp")->has_content);
    EXPECT_TRUE(opened->find("/src/c.cpp")->given_metadata);
    // It can be changed, and saved again to the same bytes.
    EXPECT_EQ(write_snapshot(*opened), bytes);
    opened->put(file("/src/d.cpp", "another file"));
    EXPECT_EQ(paths(*opened, words("another")).front(), "/src/d.cpp");
    inverted_index empty;
    EXPECT_TRUE(read_snapshot(write_snapshot(empty)));
}

TEST(snapshots, damaged_at_any_byte_are_refused) {
    inverted_index index = small_index();
    const std::string bytes = write_snapshot(index);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const unsigned flip : {1U, 0x80U, 0xFFU}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ flip);
            const auto opened = read_snapshot(damaged);
            ASSERT_FALSE(opened) << at;
            EXPECT_THAT(opened.error().message(),
                        AnyOf(HasSubstr("the index file"), HasSubstr("not an index of heddle")));
            EXPECT_FALSE(opened.error().info().hint.empty());
        }
        ASSERT_FALSE(read_snapshot(bytes.substr(0, at))) << at;
    }
    EXPECT_FALSE(read_snapshot(bytes + "x"));
}

TEST(snapshots, content_that_makes_no_sense_is_refused) {
    inverted_index index = small_index();
    std::string content;
    index.save(content);
    ASSERT_TRUE(inverted_index::load(content));
    std::size_t refused = 0;
    // Without the checksum: no byte may lead to a crash or to reading outside.
    for (std::size_t at = 0; at < content.size(); ++at) {
        for (unsigned byte = 0; byte < 256; byte += 5) {
            std::string damaged = content;
            damaged[at] = static_cast<char>(byte);
            const auto opened = inverted_index::load(damaged);
            if (!opened) ++refused;
            else (void)opened->query(words("file reader src writer described"));
        }
        EXPECT_FALSE(inverted_index::load(content.substr(0, at))) << at;
    }
    EXPECT_GT(refused, content.size());
}

} // namespace
} // namespace heddle::memory
