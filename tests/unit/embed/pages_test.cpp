// The C++ code in docs/embedding is that of the examples.
#include <gtest/gtest.h>

#include "test_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace heddle {
namespace {

namespace files = std::filesystem;

/// The lines of a file, without indentation.
std::vector<std::string> lines_of(const files::path& path) {
    std::ifstream in(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        const std::size_t begin = line.find_first_not_of(' ');
        lines.push_back(begin == std::string::npos ? std::string() : line.substr(begin));
    }
    return lines;
}

bool holds(const std::vector<std::string>& all, const std::vector<std::string>& part) {
    return std::search(all.begin(), all.end(), part.begin(), part.end()) != all.end();
}

TEST(embed_pages, quote_the_examples) {
    const files::path root = test_paths::source_folder();
    std::vector<std::vector<std::string>> examples;
    for (const auto& each : files::directory_iterator(root / "examples/embedding")) {
        if (each.path().extension() == ".cpp") examples.push_back(lines_of(each.path()));
    }
    ASSERT_GE(examples.size(), 5U);
    int blocks = 0;
    for (const auto& page : files::directory_iterator(root / "docs/embedding")) {
        if (page.path().filename() == "reference.md") continue; // made from the headers
        std::vector<std::string> block;
        bool inside = false;
        for (const std::string& line : lines_of(page.path())) {
            if (line == "```cpp") {
                inside = true;
                block.clear();
            } else if (inside && line == "```") {
                inside = false;
                ++blocks;
                const bool found =
                    std::any_of(examples.begin(), examples.end(),
                                [&](const auto& each) { return holds(each, block); });
                EXPECT_TRUE(found) << page.path() << ": no example has\n" << block.front();
            } else if (inside) {
                block.push_back(line);
            }
        }
    }
    EXPECT_GE(blocks, 7);
}

} // namespace
} // namespace heddle
