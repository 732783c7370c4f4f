// JSON and values, both ways.
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

/// One JSON text (RFC 8259, strictly). Integers stay integers (an integer outside 64 bits becomes a
/// float), duplicate keys: the last wins. Iterative, linear.
/// Errors: invalid_argument with line, column and what was expected; limit_exceeded for a text
/// that is too long or too deep; errc::limit when the heap's limit is passed.
[[nodiscard]] result<value> json_to_value(heap& memory, std::string_view text,
                                          const json_read_options& options = {});

struct json_write_options {
    unsigned indent = 0; ///< spaces a level; 0: one line
    std::size_t max_depth = 10'000;
    std::size_t max_bytes = value::max_length; ///< a longer text is an error
};

/// nil is null, a symbol its name. A float keeps a point or an exponent, so that it stays one.
/// Errors: invalid_argument with the path in the value for a float that JSON cannot write and for a
/// function; limit_exceeded when it is too deep or too long. Iterative.
[[nodiscard]] result<std::string> value_to_json(const value& v,
                                                const json_write_options& options = {});

} // namespace heddle::lang
