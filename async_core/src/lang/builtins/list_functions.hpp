// The list builtins that do more than reach into a list; the rows are in lists.cpp.
#pragma once

#include <heddle/lang/builtin.hpp>

namespace heddle::lang {

[[nodiscard]] value range_of_numbers(native_call& call, std::span<value> arguments);
[[nodiscard]] value sort_list(native_call& call, std::span<value> arguments);
[[nodiscard]] value unique_elements(native_call& call, std::span<value> arguments);
[[nodiscard]] value flatten_list(native_call& call, std::span<value> arguments);
[[nodiscard]] value zip_lists(native_call& call, std::span<value> arguments);
[[nodiscard]] value chunk_list(native_call& call, std::span<value> arguments);
[[nodiscard]] value index_of(native_call& call, std::span<value> arguments);
[[nodiscard]] value contains(native_call& call, std::span<value> arguments);

} // namespace heddle::lang
