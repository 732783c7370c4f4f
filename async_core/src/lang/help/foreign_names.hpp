// Names of other languages, and what they are called here.
#pragma once

#include <string>
#include <string_view>

namespace heddle::lang {

/// What to write in place of `name`, which nothing defines: for a word of another Lisp, of Python
/// or JavaScript, and for a function of a library that has not been imported. Empty: nothing is
/// known.
[[nodiscard]] std::string advice_for_name(std::string_view name);

/// Whether a form of that name, which nothing defines, would define or bind names (defun,
/// let-values, defthing): the names in it say nothing.
[[nodiscard]] bool looks_like_form(std::string_view name);
/// Of these, those that define the name behind them.
[[nodiscard]] bool defines_by_name(std::string_view name);

} // namespace heddle::lang
