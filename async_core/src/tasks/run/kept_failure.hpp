// How a part of a durable step has failed, as its record keeps it.
#pragma once

#include "tasks/run/task_time.hpp"

#include <heddle/base/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace heddle::lang {
class heap;
}

namespace heddle::tasks {

/// The body of the record of a request, tool or program that has failed. Nothing where the failure
/// is not that of the part: it was ended from outside of the task, whose time is `time`, or by a
/// limit of the program. Such a part is performed again.
[[nodiscard]] std::optional<std::string> encode_failure(const error& failure,
                                                        const task_time& time);
/// The failure that was kept. What it has cost is counted by then.
[[nodiscard]] error decode_failure(lang::heap& memory, std::string_view body);

} // namespace heddle::tasks
