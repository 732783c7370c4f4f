// The part of the language that is written in the language.
#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/realm.hpp>

namespace heddle::lang {

/// Defines map, filter, reduce and their kin in a fresh realm. Errors: a bug in the prelude.
[[nodiscard]] result<void> load_prelude(realm& realm);

} // namespace heddle::lang
