
#include <heddle/lang/errors.hpp>
#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/error_categories.hpp>
#include <heddle/setup/journal/row_failures.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <utility>

namespace heddle::setup {

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

std::string message_of_step(const error& failure) {
    const auto* script = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    if (script && tasks::is_failed_result(script->result))
        return tasks::task_error_of(script->result).message();
    return failure.message();
}

void end_attempt(std::vector<ports::step_record>& records) {
    if (records.empty() || records.back().kind != ports::step_kind::failed)
        records.emplace_back().kind = ports::step_kind::failed;
}

host::row_history read_earlier_version(lang::heap& memory, std::vector<ports::step_record> records,
                                       bool has_failed, bool asks_anew) {
    if (asks_anew) {
        end_attempt(records);
    } else if (has_failed && !records.empty() && records.back().kind == ports::step_kind::failed) {
        records.pop_back(); // nobody has asked for another attempt: what failed is the answer
    }
    return host::read_history(std::move(records), [&memory](const ports::step_record& step) {
        return failure_of_step(memory, step);
    });
}

} // namespace heddle::setup
