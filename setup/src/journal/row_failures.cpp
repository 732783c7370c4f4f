
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

namespace {

/// The record with which the last attempt has failed; end(): it has left none. Responses of
/// batches that were still awaited may follow it.
[[nodiscard]] std::vector<ports::step_record>::iterator last_failure(
    std::vector<ports::step_record>& records) {
    for (auto each = records.end(); each != records.begin();) {
        --each;
        switch (each->kind) {
        case ports::step_kind::failed: return each;
        case ports::step_kind::request:
        case ports::step_kind::refused:
        case ports::step_kind::sent:
        case ports::step_kind::unpaid:
        case ports::step_kind::lost: break;
        default: return records.end();
        }
    }
    return records.end();
}

} // namespace

bool has_open_attempt(const std::vector<ports::step_record>& records) {
    // Responses of batches may follow a failure, but requests are sent by attempts only.
    for (auto each = records.rbegin(); each != records.rend(); ++each) {
        switch (each->kind) {
        case ports::step_kind::failed: return false;
        case ports::step_kind::request:
        case ports::step_kind::refused:
        case ports::step_kind::lost: break;
        default: return true;
        }
    }
    return true;
}

void end_attempt(std::vector<ports::step_record>& records) {
    if (last_failure(records) == records.end())
        records.emplace_back().kind = ports::step_kind::failed;
}

host::row_history read_earlier_version(lang::heap& memory, std::vector<ports::step_record> records,
                                       bool has_failed, bool asks_anew) {
    if (asks_anew) {
        end_attempt(records);
    } else if (has_failed) {
        // Nobody has asked for another attempt: what failed is the answer.
        if (const auto failure = last_failure(records); failure != records.end())
            records.erase(failure);
    }
    return host::read_history(std::move(records), [&memory](const ports::step_record& step) {
        return failure_of_step(memory, step);
    });
}

} // namespace heddle::setup
