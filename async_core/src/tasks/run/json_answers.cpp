// The JSON of answers: found, checked, asked for again.
#include "tasks/output/json_extraction.hpp"
#include "tasks/run/task_execution.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/lang/host_job.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <utility>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_quoted_bytes = 64 * 1024;     ///< of a wrong answer that is sent back
constexpr std::size_t max_checked_at_once = 256 * 1024; ///< for longer ones a try is in vain

} // namespace

std::optional<result<lang::value>> task_execution::take_json(ports::chat_response answer) {
    unchecked_ = std::move(answer);
    check_waits_ = unchecked_.text.size() > max_checked_at_once ||
                   !lang::done_in_a_turn([this](lang::work_meter& work) { check(work); });
    if (check_waits_) return std::nullopt;
    return end_check();
}

void task_execution::check(lang::work_meter& work) {
    const bool cut = unchecked_.finish == ports::finish_reason::length;
    const compiled_task& task = *call_.task;
    lang::heap& memory = runner_.owner().memory();
    not_json_.reset();
    wrong_.reset();
    extracted_json& found = found_.emplace();
    auto read = task.declared.disable_reparsing.value_or(false)
                    ? read_json_as_it_is(memory, unchecked_.text, found, work)
                    : extract_json(memory, unchecked_.text, cut, found, work);
    if (!read) not_json_ = std::move(read).error();
    else wrong_ = task.schema.check(found.content, found.text, "the answer", work);
}

result<lang::value> task_execution::refuse_unchecked(error failure) {
    check_waits_ = false;
    found_.reset();
    return refuse(std::move(failure), unchecked_.text);
}

std::optional<result<lang::value>> task_execution::end_check() {
    check_waits_ = false;
    ports::chat_response answer = std::exchange(unchecked_, {});
    const compiled_task& task = *call_.task;
    std::string violation;
    std::string location;
    if (not_json_) {
        violation = "the answer is not JSON: " + not_json_->message();
    } else if (wrong_) {
        violation = std::move(wrong_->message);
        location = std::move(wrong_->path);
    }
    if (violation.empty()) {
        if (found_->completed) {
            warnings_.emplace_back("the JSON of the answer was cut short and has been completed");
        }
        task_ending end = ending(answer.text);
        end.parsed = std::move(found_->content);
        end.has_parsed = true;
        return complete(std::move(end));
    }
    const bool unknown = wrong_ && wrong_->too_dear;
    if (asks_left_ != 0 && !unknown) { // another response would be as dear
        --asks_left_;
        ask_again(std::move(answer.text), violation);
        return std::nullopt;
    }
    task_ending end = ending(answer.text);
    end.parse_error = violation;
    if (task.schema.accepts_all()) return complete(std::move(end));
    lang::heap& memory = runner_.owner().memory();
    task_failure what{
        std::string(to_string(task_failure_reason::output_format_failure)), violation, {}};
    what.details = runner_.results().make_details(
        {{"error_type", lang::make_string(memory, not_json_ ? "JSONDecodeError"
                                                  : unknown ? "SchemaCheckLimit"
                                                            : "SchemaViolation")},
         {"message", lang::make_string(memory, violation)},
         {"location", lang::make_string(memory, location)}});
    return fail(std::move(end), what);
}

void task_execution::ask_again(std::string answer, const std::string& violation) {
    utf8::shorten(answer, max_quoted_bytes);
    // The last wrong answer is enough: the conversation does not grow with each attempt.
    request_.messages.resize(settled_messages_);
    ports::chat_message& said = request_.messages.emplace_back();
    said.role = ports::chat_role::assistant;
    said.text = std::move(answer);
    ports::chat_message& asked = request_.messages.emplace_back();
    asked.text = "Your answer cannot be used: " + violation + ".\n" + call_.task->format_note;
}

} // namespace heddle::tasks
