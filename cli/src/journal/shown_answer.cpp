#include "journal/shown_answer.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/value_codec.hpp>
#include <heddle/ports/error_categories.hpp>
#include <heddle/tasks/output/task_result.hpp>

namespace heddle::cli {

shown_answer answer_of(lang::heap& memory, const ports::step_record& record, std::size_t most) {
    if (record.kind == ports::step_kind::cut) return {"deadline", ""};
    if (record.kind == ports::step_kind::nested) return {"function", ""};
    if (record.body.empty()) return {"done again", ""};
    if (record.body == "deadline") return {"deadline", ""};
    const auto answer = lang::decode_answer(memory, record.body, ports::find_category);
    if (!answer) {
        return {answer.error().is_cancelled() ? "cancelled" : "error",
                utf8::shortened(answer.error().message(), most)};
    }
    shown_answer shown{"answer", ""};
    lang::print_options options;
    options.max_bytes = most;
    const lang::value* content = &*answer;
    if (tasks::is_task_result(*answer)) {
        if (tasks::is_failed_result(*answer)) shown.kind = "FAILED";
        if (const lang::value* found = lang::map_find(*answer, "content")) content = found;
    }
    shown.text = lang::print_value(*content, options);
    return shown;
}

} // namespace heddle::cli
