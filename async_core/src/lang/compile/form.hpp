// An expression as it was read.
#pragma once

#include <heddle/base/source.hpp>
#include <heddle/lang/value.hpp>

#include <cstddef>
#include <string_view>

namespace heddle::lang {

/// A form with its place, while it is analysed.
struct form {
    value content;
    source_span span;

    [[nodiscard]] bool is_list() const noexcept { return content.is(kind::list); }
    [[nodiscard]] bool is_symbol() const noexcept { return content.is(kind::symbol); }
    [[nodiscard]] std::size_t size() const noexcept { return content.length(); }
    /// Element `i` with its own place, or the whole form's when it is not known.
    [[nodiscard]] form operator[](std::size_t i) const;
    [[nodiscard]] std::string_view name() const noexcept; ///< of a symbol
};

} // namespace heddle::lang
