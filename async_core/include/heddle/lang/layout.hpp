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
    std::size_t width = 100; ///< of a line, in code points; a line without a break may be longer
    read_options reading;
};

/// The text in the canonical layout (docs/reference/formatting.md). Every token and comment keeps
/// its spelling and order; only blanks at the end of a line comment are removed. Laying out the
/// result again changes nothing.
/// `position`: of the text in a source_map, for spans; 0: spans are unknown.
/// Errors: errc::syntax with span, as the reader; errc::limit.
/// Threads: any, at the same time. Complexity: linear, without recursion.
[[nodiscard]] result<std::string> lay_out(std::string_view text, std::uint32_t position = 0,
                                          const layout_options& options = {});

/// True if the texts contain the same tokens and comments, with the same spelling, in the same
/// order. Both must be readable.
[[nodiscard]] bool same_but_for_blanks(std::string_view one, std::string_view other);

} // namespace heddle::lang
