#include "batch/row_failures.hpp"

#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/error_categories.hpp>
#include <heddle/tasks/output/task_result.hpp>

namespace heddle::cli {

std::optional<std::string> failure_of_step(lang::heap& memory, const ports::step_record& step) {
    if (step.body.empty()) return std::nullopt; // it is made again in any case
    const result<lang::value> ended = lang::decode_answer(memory, step.body, ports::find_category);
    if (!ended) {
        if (ended.error().is_cancelled()) return std::nullopt;
        return ended.error().message();
    }
    if (!tasks::is_failed_result(*ended)) return std::nullopt;
    return tasks::task_error_of(*ended).message();
}

} // namespace heddle::cli
