// The committed reference of the language is what its tables give.
#include "child_process.hpp"
#include "file_text.hpp"
#include "scratch_directory.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace heddle::docs_test {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> files_below(const fs::path& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        found[fs::relative(entry.path(), folder).string()] = text_of(entry.path());
    }
    return found;
}

TEST(reference, is_generated_from_the_tables) {
    const cli_test::scratch_directory scratch;
    const fs::path result = fs::path(scratch.path()) / "language";
    const auto ended = cli_test::run_heddle({"reference", result.string()});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto expected = files_below(result);
    const auto committed = files_below(fs::path(heddle::test_paths::source_folder()) / "docs" /
                                       "reference" / "language");
    EXPECT_GT(expected.size(), 3U);
    for (const auto& [name, text] : expected) {
        const auto found = committed.find(name);
        const bool same = found != committed.end() && found->second == text;
        EXPECT_TRUE(same) << name << " differs; mend it with\n"
                          << "  build/dev/bin/heddle reference docs/reference/language";
    }
    for (const auto& [name, text] : committed)
        EXPECT_TRUE(expected.contains(name)) << name << " is not in the reference: delete it";
}

TEST(reference, has_every_setting_of_tasks) {
    const cli_test::scratch_directory scratch;
    const std::string page = text_of(fs::path(heddle::test_paths::source_folder()) / "docs" /
                                     "reference" / "templates.md");
    scratch.file("templates.md", page);
    const fs::path written = fs::path(scratch.path()) / "templates.md";
    const std::string language = (fs::path(scratch.path()) / "language").string();
    const auto ended =
        cli_test::run_heddle({"reference", language, "--templates", written.string()});
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_TRUE(text_of(written) == page)
        << "docs/reference/templates.md differs; mend it with\n"
        << "  build/dev/bin/heddle reference docs/reference/language --templates "
           "docs/reference/templates.md";
    scratch.file("other.md", "no table");
    const auto refused = cli_test::run_heddle(
        {"reference", language, "--templates", (fs::path(scratch.path()) / "other.md").string()});
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("<!-- settings -->"), std::string::npos) << refused.err;
}

/// The examples of docs/contributing/adding-a-task-setting.md are settings that there are, one row
/// each: each block is a part of the file that its first line names.
TEST(reference, the_worked_examples_of_settings_are_in_the_sources) {
    const fs::path root = heddle::test_paths::source_folder();
    const std::string page = text_of(root / "docs" / "contributing" / "adding-a-task-setting.md");
    const std::string fence = "```cpp\n// ";
    std::size_t blocks = 0;
    for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
        at += fence.size();
        const std::size_t line_end = page.find('\n', at);
        const std::size_t end = page.find("```", line_end);
        ASSERT_NE(end, std::string::npos);
        const std::string source = text_of(root / page.substr(at, line_end - at));
        const std::string block = page.substr(line_end + 1, end - line_end - 1);
        EXPECT_NE(source.find(block), std::string::npos) << block;
        ++blocks;
        at = end;
    }
    EXPECT_EQ(blocks, 2U) << "one for a task, one for a request";
}

TEST(reference, that_cannot_be_written_is_an_error) {
    const auto ended = cli_test::run_heddle({"reference", "/dev/null/pages"});
    EXPECT_EQ(ended.code, 1);
    EXPECT_NE(ended.err.find("/dev/null/pages"), std::string::npos) << ended.err;
}

} // namespace
} // namespace heddle::docs_test
