// Values without functions and handles.
#pragma once

#include <heddle/lang/value.hpp>
#include <heddle/lang/work.hpp>

#include <optional>

namespace heddle::lang {

/// Whether a value is data through and through: no function, task, future or other handle in it.
/// Linear in the parts that it has, however often it holds them.
[[nodiscard]] bool is_data(const value& v);
/// As above, metered. Result: empty when `work` stops.
[[nodiscard]] std::optional<bool> is_data(const value& v, work_meter& work);

} // namespace heddle::lang
