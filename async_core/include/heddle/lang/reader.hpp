// Text to data.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/heap.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace heddle::lang {

struct read_options {
    std::size_t max_depth = 10'000; ///< deeper nesting is a syntax error
};

/// A datum with its place. Lists carry the places of their elements in their storage
/// (list_object::places), so code keeps its spans through quoting and macros.
struct datum {
    value content;
    source_span span;
};

/// Reads all expressions of a text (language.md 1) that was added to a source_map at `position`
/// (0: spans stay unknown). Errors: errc::syntax with span and hint; never a crash, whatever the bytes.
/// Iterative: depth is bounded by the option only.
[[nodiscard]] result<std::vector<datum>> read_all(heap& memory, std::string_view text,
                                                  std::uint32_t position = 0,
                                                  const read_options& options = {});

/// Exactly one expression; empty input and trailing content are errors.
[[nodiscard]] result<datum> read_one(heap& memory, std::string_view text,
                                     std::uint32_t position = 0, const read_options& options = {});

} // namespace heddle::lang
