// A file of the language's tests: expressions, each with the value or the error that it has.
#pragma once

#include <heddle/lang/heap.hpp>
#include <heddle/lang/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::language_test {

/// An expression of a file and what the line after it expects.
struct example {
    enum class outcome : std::uint8_t { not_shown, value, failure };

    std::size_t line = 0;          ///< where the expression begins
    std::size_t expected_line = 0; ///< where the expectation is
    std::string text;
    lang::datum form;
    outcome expects = outcome::not_shown;
    std::string expected; ///< the printed value, or a part of the message
    std::string kind;     ///< of the error
};

/// A mistake of the file itself.
struct mistake {
    std::size_t line = 0;
    std::string what;
};

struct language_file {
    std::vector<example> examples;
    std::vector<mistake> mistakes;
};

/// Reads the text of a file, which the source map holds at `position`. The rules are those of
/// tests/language/README.md; a file that breaks one has mistakes.
[[nodiscard]] language_file read_language_file(lang::heap& memory, std::string_view text,
                                               std::uint32_t position);

} // namespace heddle::language_test
