// Names of other languages, and what they are called here.
#pragma once

#include <string>
#include <string_view>

namespace heddle::lang {

/// What to write in place of `name`, which nothing defines: for a word of another Lisp, of Python or
/// JavaScript, and for a function of a library that has not been imported. Empty: nothing is known.
[[nodiscard]] std::string advice_for_name(std::string_view name);

} // namespace heddle::lang
