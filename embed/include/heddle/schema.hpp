// JSON Schema of C++ types.
#pragma once

#include <heddle/base/visibility.hpp>
#include <heddle/convert.hpp>

namespace HEDDLE_PUBLIC heddle {

/// The JSON Schema (draft 2020-12) of what from_json<T> reads and to_json writes. A recursive
/// struct is defined in "$defs".
template <class T>
[[nodiscard]] json schema_of() {
    schema_builder builder;
    json schema = detail::converter_of<T>::schema(builder);
    return builder.complete(std::move(schema));
}

} // namespace heddle
