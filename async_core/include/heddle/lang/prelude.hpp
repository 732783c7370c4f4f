// The part of the language that is written in the language.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/realm.hpp>

namespace heddle::lang {

/// Defines map, filter, reduce and similar functions in a new realm. Errors: a bug in the prelude.
[[nodiscard]] result<void> load_prelude(realm& realm);

} // namespace heddle::lang
