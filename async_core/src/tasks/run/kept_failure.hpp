// How a part of a durable step has failed, as its record keeps it.
#pragma once

#include "tasks/run/task_time.hpp"

#include <heddle/base/error.hpp>
#include <heddle/lang/value.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace heddle::lang {
class heap;
}

namespace heddle::tasks {

/// The body of the record of a request, tool or program that has failed: the error, what the
/// requests have cost, and whether the time of the task, `time`, or of one around it in the same
/// step has ended it. Nothing where the failure is not that of the part: it was ended from outside
/// of the step, or by a limit of the program. Such a part is performed again.
[[nodiscard]] std::optional<std::string> encode_failure(const error& failure,
                                                        const task_time& time);
/// The failure that was kept, of a part of the task with `time`. The row has counted what it cost;
/// for the limits of tasks it counts again.
[[nodiscard]] error decode_failure(lang::heap& memory, std::string_view body,
                                   const task_time& time);
/// The same for a body that may be lang::encode_value's as well. Errors: those, and as
/// lang::decode_answer.
[[nodiscard]] result<lang::value> decode_outcome(lang::heap& memory, std::string_view body,
                                                 const task_time& time);

} // namespace heddle::tasks
