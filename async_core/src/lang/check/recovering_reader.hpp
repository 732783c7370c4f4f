// Reading a text in spite of syntax errors.
#pragma once

#include <heddle/lang/reader.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace heddle::lang {

struct recovered_text {
    std::vector<datum> forms; ///< the top-level forms that can be read
    std::vector<error> errors;
};

/// Reads what can be read. After an error it goes on at the next line that begins with a bracket:
/// nothing else shows where a top-level form begins once brackets do not match. Spans are those of
/// the whole text. At most 20 errors.
[[nodiscard]] recovered_text read_recovering(heap& memory, std::string_view text,
                                             std::uint32_t position);

} // namespace heddle::lang
