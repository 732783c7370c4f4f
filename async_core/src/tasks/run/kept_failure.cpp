#include "tasks/run/kept_failure.hpp"

#include <heddle/lang/errors.hpp>
#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/error_categories.hpp>

#include <utility>

namespace heddle::tasks {

std::optional<std::string> encode_failure(const error& failure, const task_time& time) {
    const bool is_own =
        failure.is_cancelled() ? time.is_over(failure) : lang::extent_of(failure) == nullptr;
    if (!is_own) return std::nullopt;
    return lang::encode_error(failure);
}

error decode_failure(lang::heap& memory, std::string_view body) {
    result<lang::value> read = lang::decode_answer(memory, body, ports::find_category);
    if (!read) return std::move(read).error().with_attempts(0);
    return error(errc::io_error, "the recorded failure of a step is damaged");
}

} // namespace heddle::tasks
