// Conversion of JSON to values and back.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>
#include <heddle/lang/work.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::lang {

struct json_read_options {
    std::size_t max_depth = 512;
    std::size_t max_bytes = 64 * 1024 * 1024;
    bool is_valid_text = false; ///< the input is known to be valid UTF-8
    work_meter* work = nullptr; ///< may stop reading, with an error; null: not metered
};

/// Reads one JSON text (RFC 8259, strictly). Integers stay integers (one outside 64 bits becomes a
/// float); of duplicate keys the last one wins. Iterative, linear.
/// Errors: invalid_argument with line, column and what was expected; limit_exceeded for a text that
/// is too long or too deep; errc::limit when the limit of the heap is exceeded.
[[nodiscard]] result<value> json_to_value(heap& memory, std::string_view text,
                                          const json_read_options& options = {});

struct json_write_options {
    unsigned indent = 0; ///< spaces per level; 0: one line
    std::size_t max_depth = 10'000;
    std::size_t max_bytes = value::max_length; ///< a longer text is an error
    /// Writes the printed form, as a string, of what JSON cannot represent, in place of an error.
    bool writes_all = false;
};

/// nil becomes null, a symbol its name. A float keeps a point or an exponent, so that it is read as
/// a float again.
/// Errors: invalid_argument, with the path in the value, for a function and for a float that JSON
/// cannot represent; limit_exceeded if the value is too deep or the text too long. Iterative.
[[nodiscard]] result<std::string> value_to_json(const value& v,
                                                const json_write_options& options = {});

} // namespace heddle::lang
