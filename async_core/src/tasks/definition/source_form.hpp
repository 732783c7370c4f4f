// A piece of a program with its place in the source.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::tasks {

/// Data that was read from source. Elements of a list know their own places; code that was built by
/// a program has none, and its elements take the place of the whole.
struct source_form {
    lang::value content;
    source_span span;

    [[nodiscard]] bool is_list() const noexcept { return content.is(lang::kind::list); }
    [[nodiscard]] bool is_symbol() const noexcept { return content.is(lang::kind::symbol); }
    [[nodiscard]] bool is_string() const noexcept { return content.is(lang::kind::string); }
    [[nodiscard]] std::size_t size() const noexcept { return content.length(); }
    [[nodiscard]] source_form operator[](std::size_t i) const;
    /// The name of a symbol, the bytes of a string.
    [[nodiscard]] std::string_view text() const noexcept;
    /// The written form, cut to a readable length.
    [[nodiscard]] std::string shown() const;
    /// x when this is (quote x), else this.
    [[nodiscard]] source_form unquoted() const;
};

/// Data as JSON text: a list of (name value) pairs is an object, any other list an array, a symbol
/// its name. An empty list is an object where JSON Schema can only have one.
[[nodiscard]] result<std::string> form_to_json(const source_form& form);

} // namespace heddle::tasks
