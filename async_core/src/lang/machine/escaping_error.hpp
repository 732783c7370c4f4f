#pragma once

#include <heddle/base/error.hpp>
#include <heddle/lang/heap.hpp>

namespace heddle::lang {

/// An error on its way out of a sandbox: only data goes with it and with its causes. Values that
/// are not data become the text that shows them, and so does what is too much to look through in
/// one go, about 100,000 values. Source: spec/language.md, sandbox.
[[nodiscard]] error with_data_only(heap& memory, error failure);
/// The same without payload, and without the marks of its causes: an error that ends a sandbox for
/// all that run inside, and keeps nothing of the program alive.
[[nodiscard]] error without_references(heap& memory, error failure);

} // namespace heddle::lang
