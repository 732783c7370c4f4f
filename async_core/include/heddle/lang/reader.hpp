// Text to data.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/base/source.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace heddle::lang {

struct read_options {
    std::size_t max_depth = 10'000; ///< deeper nesting is a syntax error
    std::size_t first_line = 1;     ///< number of the text's first line, for messages
    work_meter* work = nullptr;     ///< may stop reading, with an error; null: not metered
};

/// A datum with its position. Lists carry the positions of their elements in their storage
/// (list_object::places), so code keeps its spans through quoting and macros.
struct datum {
    value content;
    source_span span;
};

/// Payload of an error for a text that could be the beginning of a valid one: it ends inside a
/// list, a string or a comment, or after a quote. An error that no continuation can fix has no such
/// payload.
class incomplete_input final : public error_payload {};

/// True for an error of read_all that further input may fix.
[[nodiscard]] bool needs_more_input(const error& failure) noexcept;

/// Reads all expressions of `text` (docs/spec/language.md §1), held by the source_map at `position`
/// (0: spans are unknown). Errors: errc::syntax with span and hint; never a crash, whatever the
/// bytes. Iterative: depth is bounded by the option only.
[[nodiscard]] result<std::vector<datum>> read_all(heap& memory, std::string_view text,
                                                  std::uint32_t position = 0,
                                                  const read_options& options = {});

/// As read_all, but a list without the places of its elements. Long texts are read in turns.
[[nodiscard]] result<value> read_list(heap& memory, std::string_view text,
                                      std::uint32_t position = 0, const read_options& options = {});

/// Exactly one expression; empty input and trailing content are errors.
[[nodiscard]] result<datum> read_one(heap& memory, std::string_view text,
                                     std::uint32_t position = 0, const read_options& options = {});

} // namespace heddle::lang
