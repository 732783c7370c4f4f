// One file as the rules see it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::checks {

struct finding {
    std::string file;
    int line = 0;
    std::string rule;
    std::string what;
    std::string how_to_mend;
    bool warning = false; ///< reported, but the check does not fail
};

struct include_line {
    int line = 0;
    std::string path; ///< between the quotes or brackets
    bool quoted = false;
};

/// A text file with the views that rules want.
struct source_file {
    std::string path; ///< relative to the root, with '/'
    std::string text;
    std::string code;     ///< has_code() only: text without comments and literals, lines kept
    std::string comments; ///< has_code() only: text with everything but comments blanked
    std::vector<include_line> includes;

    [[nodiscard]] bool is_cpp() const { return path.ends_with(".cpp") || is_header(); }
    /// C++, or rows for the preprocessor.
    [[nodiscard]] bool has_code() const { return is_cpp() || path.ends_with(".def"); }
    [[nodiscard]] bool is_header() const { return path.ends_with(".hpp"); }
    /// "io" of "io/src/http/client.cpp".
    [[nodiscard]] std::string_view library() const;
    /// "base" of "async_core/src/base/utf8.cpp" and of "async_core/include/heddle/base/utf8.hpp".
    [[nodiscard]] std::string_view area() const;
    [[nodiscard]] bool is_public_header() const;
    [[nodiscard]] int depth() const; ///< components of the folder of a library
    /// Line `number` (1-based) of `text`.
    [[nodiscard]] std::string_view line(int number) const;
};

[[nodiscard]] source_file read_source(const std::filesystem::path& root,
                                      const std::filesystem::path& file);

/// All text files of a source tree; build folders and what begins with a dot are left out, except
/// .ci.
[[nodiscard]] std::vector<source_file> read_tree(const std::filesystem::path& root);

[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);

/// The comments of a file, as lines, each with its number in the file. Files that have no comments
/// (pages, data) have no such lines.
[[nodiscard]] std::vector<std::string_view> comment_lines(const source_file& file);

} // namespace heddle::checks
