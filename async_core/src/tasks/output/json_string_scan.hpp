// Which bytes of JSON are inside strings, for scans that do not read values.
#pragma once

#include <cstddef>
#include <string_view>

namespace heddle::tasks {

/// Passes over a JSON text from its beginning, or from any byte outside strings. The text need not
/// be well-formed.
class json_string_scan {
public:
    /// Whether the next byte belongs to a string that has begun. Its closing quote does; its
    /// opening quote does not.
    [[nodiscard]] bool inside() const noexcept { return inside_; }

    /// Takes the byte at `at`, which must be less than the size; inside a string, a backslash
    /// together with the byte after it. Result: the number of bytes taken.
    std::size_t take(std::string_view text, std::size_t at) noexcept {
        const char c = text[at];
        if (!inside_) {
            inside_ = c == '"';
            return 1;
        }
        if (c == '\\') return at + 1 < text.size() ? 2 : 1;
        inside_ = c != '"';
        return 1;
    }

private:
    bool inside_ = false;
};

} // namespace heddle::tasks
