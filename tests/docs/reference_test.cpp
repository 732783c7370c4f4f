// The committed reference of the language is what its tables give.
#include "child_process.hpp"
#include "scratch_directory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace heddle::docs_test {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> files_below(const fs::path& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream stream(entry.path(), std::ios::binary);
        found[fs::relative(entry.path(), folder).string()] =
            std::string(std::istreambuf_iterator<char>(stream), {});
    }
    return found;
}

TEST(reference, is_what_the_tables_give) {
    const cli_test::scratch_directory scratch;
    const fs::path made = fs::path(scratch.path()) / "language";
    const auto ended = cli_test::run_heddle({"reference", made.string()});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto expected = files_below(made);
    const auto committed =
        files_below(fs::path(HEDDLE_SOURCE_DIR) / "docs" / "reference" / "language");
    EXPECT_GT(expected.size(), 3U);
    for (const auto& [name, text] : expected) {
        const auto found = committed.find(name);
        const bool same = found != committed.end() && found->second == text;
        EXPECT_TRUE(same) << name << " differs; mend it with\n"
                          << "  build/dev/bin/heddle reference docs/reference/language";
    }
    for (const auto& [name, text] : committed)
        EXPECT_TRUE(expected.contains(name)) << name << " is no page of the reference: delete it";
}

TEST(reference, that_cannot_be_written_is_an_error) {
    const auto ended = cli_test::run_heddle({"reference", "/dev/null/pages"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("/dev/null/pages"), std::string::npos) << ended.err;
}

} // namespace
} // namespace heddle::docs_test
