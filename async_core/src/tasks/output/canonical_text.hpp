// A text for each JSON value that a schema looks at.
#pragma once

#include <string>

namespace valijson::adapters {
class Adapter;
}

namespace heddle::tasks {

/// Appends a text that is the same for equal values and for no others: each value shows where it
/// ends. Counted as a check (check_effort). Throws what check_effort throws.
void append_canonical(std::string& out, const valijson::adapters::Adapter& target);

/// std::less, counted.
[[nodiscard]] bool counted_less(const std::string& one, const std::string& other);

} // namespace heddle::tasks
