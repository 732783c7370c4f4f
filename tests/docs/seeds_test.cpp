// Every file and every test that the table of the design documents names is there.
#include "file_text.hpp"
#include "test_paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace heddle::docs_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells;
    std::istringstream stream(row);
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
    return cells;
}

/// What is between back-quotes.
std::vector<std::string> quoted_in(const std::string& cell) {
    std::vector<std::string> found;
    std::size_t at = cell.find('`');
    while (at != std::string::npos) {
        const std::size_t end = cell.find('`', at + 1);
        if (end == std::string::npos) break;
        found.push_back(cell.substr(at + 1, end - at - 1));
        at = cell.find('`', end + 1);
    }
    return found;
}

class design_table : public testing::Test {
protected:
    const fs::path root = heddle::test_paths::source_folder();
    const std::string conformance = text_of(root / "tests/data/conformance/dsl.jsonl");

    void check_test(const std::string& name, const std::string& file) {
        if (name.ends_with("-*")) {
            const std::string id = "\"id\": \"" + name.substr(0, name.size() - 1);
            EXPECT_NE(conformance.find(id), std::string::npos) << "no case " << name;
            return;
        }
        const std::size_t point = name.find('.');
        ASSERT_NE(point, std::string::npos) << name;
        ASSERT_FALSE(file.empty()) << name << " does not follow a file";
        // A long name takes two lines.
        std::string text = text_of(root / file);
        std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
        const std::string wanted = "(" + name.substr(0, point) + "," + name.substr(point + 1) + ")";
        EXPECT_NE(text.find(wanted), std::string::npos) << file << " has no test " << name;
    }
};

TEST_F(design_table, names_files_and_tests_that_exist) {
    std::istringstream page(text_of(root / "docs/reference/seeds.md"));
    std::size_t rows = 0;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("| ") || line.starts_with("| element")) continue;
        SCOPED_TRACE(line);
        const auto cells = cells_of(line);
        ASSERT_GE(cells.size(), 5U) << "element, where, test, note";
        ++rows;
        const auto places = quoted_in(cells[2]);
        EXPECT_FALSE(places.empty());
        for (const std::string& place : places) {
            EXPECT_TRUE(fs::is_regular_file(root / place)) << place;
        }
        const auto tests = quoted_in(cells[3]);
        EXPECT_FALSE(tests.empty());
        std::string file;
        for (const std::string& test : tests) {
            if (test.find('/') == std::string::npos) {
                check_test(test, file);
                continue;
            }
            file = test;
            EXPECT_TRUE(fs::is_regular_file(root / file)) << file;
        }
    }
    EXPECT_GE(rows, 80U);
}

TEST_F(design_table, has_a_part_for_each_document) {
    const std::string page = text_of(root / "docs/reference/seeds.md");
    for (const char* title :
         {"\n## S-expression Evaluator Implementation Design\n", "\n## SexpEvaluator IDL\n",
          "\n## System Protocols\n", "\n## Task System Implementation Design\n",
          "\n## ADR: Inline Atomic Task Definition via defatom\n"}) {
        EXPECT_NE(page.find(title), std::string::npos) << title;
    }
}

TEST(architecture, names_files_that_are_there) {
    const fs::path root = heddle::test_paths::source_folder();
    std::size_t seen = 0;
    for (const std::string& name : quoted_in(text_of(root / "ARCHITECTURE.md"))) {
        const std::string top = name.substr(0, name.find('/'));
        const bool source = name.ends_with(".cpp") || name.ends_with(".hpp");
        if (!source || top == name || !fs::is_directory(root / top)) continue;
        ++seen;
        EXPECT_TRUE(fs::exists(root / name)) << name;
    }
    EXPECT_GE(seen, 20U);
}

} // namespace
} // namespace heddle::docs_test
