// The canonical layout of source text.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::lang {

struct layout_options {
    std::size_t width = 100; ///< of a line, in code points; what has no place to break is longer
    read_options reading;
};

/// The text with its white space laid out anew (docs/reference/formatting.md has the rules). Every
/// token and every comment stays as it was written and in its order; only blanks at the end of a
/// line comment go. Laying out the result again changes nothing.
/// `position`: of the text in a source_map, for spans; 0: they stay unknown.
/// Errors: errc::syntax with span, the reader's own; errc::limit.
/// Threads: any, at the same time. Complexity: linear, without recursion.
[[nodiscard]] result<std::string> lay_out(std::string_view text, std::uint32_t position = 0,
                                          const layout_options& options = {});

/// True when the texts hold the same tokens and comments, each spelled alike, in the same order.
/// Both must be readable.
[[nodiscard]] bool same_but_for_blanks(std::string_view one, std::string_view other);

} // namespace heddle::lang
