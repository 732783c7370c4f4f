// Values as JSON in the making.
#pragma once

#include "lang/text/text_builder.hpp"

#include <heddle/lang/json_bridge.hpp>

#include <optional>

namespace heddle::lang {

/// As value_to_json, at the end of a text. An error also when the work stops.
[[nodiscard]] std::optional<error> write_json(text_builder& out, const value& v,
                                              const json_write_options& options);

} // namespace heddle::lang
