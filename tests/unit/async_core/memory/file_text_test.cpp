#include "memory/walk/file_text.hpp"

#include <heddle/base/utf8.hpp>

#include <gtest/gtest.h>

namespace heddle::memory {
namespace {

TEST(file_text, binary_shows_in_the_first_8_KiB) {
    const std::string text(8 * 1024, 'x');
    EXPECT_FALSE(is_binary(""));
    EXPECT_FALSE(is_binary(text));
    EXPECT_TRUE(is_binary(std::string("a\0b", 3)));
    EXPECT_TRUE(is_binary("\x89PNG"));
    EXPECT_FALSE(is_binary(text + std::string(1, '\0')));
    EXPECT_TRUE(is_binary(text.substr(1) + std::string(1, '\0')));
    // A character that the bound cuts is none the worse.
    EXPECT_FALSE(is_binary(text.substr(1) + "é and more"));
    EXPECT_TRUE(is_binary(text.substr(1) + "\xC3"));
}

TEST(file_text, types_go_by_name) {
    EXPECT_EQ(content_type_of("/a/b.py"), "text/x-python");
    EXPECT_EQ(content_type_of("/a/b.adoc"), "text/asciidoc");
    EXPECT_EQ(content_type_of("/a/b.yml"), "text/x-yaml");
    EXPECT_EQ(content_type_of("/a/CMakeLists.txt"), "text/x-cmake");
    EXPECT_EQ(content_type_of("/a.py/README"), "text/plain");
    EXPECT_EQ(content_type_of("/a/b.unknown"), "text/plain");
    EXPECT_EQ(content_type_of("/a/.py"), "text/x-python");
    // The table is searched by halves: an entry out of order would not be found.
    for (const char* ending :
         {"awk", "c", "cc", "clj", "cs", "cxx", "el",  "exs", "hh",  "hpp", "ini", "js",  "jsx",
          "kt",  "m", "ml", "pl",  "r",  "rst", "scm", "sh",  "tex", "ts",  "tsx", "xml", "yaml"}) {
        EXPECT_NE(content_type_of("/x." + std::string(ending)), "text/plain") << ending;
    }
}

TEST(file_text, is_described_by_its_first_line_with_content) {
    EXPECT_EQ(describe_text("/src/pool.hpp", "// The pool of connections.\n#pragma once\n"),
              "pool.hpp (text/x-c++): The pool of connections.");
    EXPECT_EQ(describe_text("/x.py", "#!/usr/bin/env python\n\n\"\"\"Cuts cloth.\"\"\"\n"),
              "x.py (text/x-python): Cuts cloth.\"\"\"");
    EXPECT_EQ(describe_text("/R.md", "\xEF\xBB\xBF# Title #\n"), "R.md (text/markdown): Title");
    EXPECT_EQ(describe_text("/e", ""), "e (text/plain)");
    EXPECT_EQ(describe_text("/e", "----\n***\n"), "e (text/plain)");
    const std::string long_line =
        describe_text("/l", std::string(150, 'a') + std::string(50, 'b') + "é");
    EXPECT_TRUE(utf8::is_valid(long_line));
    EXPECT_LE(long_line.size(), 220U);
}

} // namespace
} // namespace heddle::memory
