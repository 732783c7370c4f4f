#include "tasks/run/response_check.hpp"

#include <heddle/lang/host_job.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <utility>

namespace heddle::tasks {

namespace {

constexpr std::size_t max_checked_at_once = 256 * 1024; ///< for longer ones a try is in vain

} // namespace

void response_check::begin(std::string text, bool cut) {
    text_ = std::move(text);
    cut_ = cut;
    waits_ = text_.size() > max_checked_at_once ||
             !lang::done_in_a_turn([this](lang::work_meter& work) { run(work); });
}

void response_check::run(lang::work_meter& work) {
    not_json_.reset();
    wrong_.reset();
    extracted_json& found = found_.emplace();
    auto read = task_.declared.disable_reparsing.value_or(false)
                    ? read_json_as_it_is(memory_, text_, found, work)
                    : extract_json(memory_, text_, cut_, found, work);
    if (!read) not_json_ = std::move(read).error();
    else wrong_ = task_.schema.check(found.content, found.text, "the response", work);
}

checked_response response_check::take() {
    waits_ = false;
    checked_response checked;
    checked.text = std::exchange(text_, {});
    if (not_json_) {
        checked.violation = "the response is not JSON: " + not_json_->message();
        checked.kind = "JSONDecodeError";
    } else if (wrong_) {
        checked.violation = std::move(wrong_->message);
        checked.location = std::move(wrong_->path);
        checked.unknown = wrong_->too_dear;
        checked.kind = checked.unknown ? "SchemaCheckLimit" : "SchemaViolation";
    }
    if (checked.violation.empty()) {
        checked.completed = found_->completed;
        checked.content = std::move(found_->content);
    }
    return checked;
}

std::string_view response_check::give_up() noexcept {
    waits_ = false;
    found_.reset();
    return text_;
}

bool response_check::repeats(const checked_response& wrong) noexcept {
    if (repeats_left_ == 0 || wrong.unknown) return false; // another response would be as dear
    --repeats_left_;
    return true;
}

task_failure response_check::failure_of(const checked_response& wrong,
                                        result_builder& results) const {
    task_failure what{
        std::string(to_string(task_failure_reason::output_format_failure)), wrong.violation, {}};
    what.details = results.make_details({{"error_type", lang::make_string(memory_, wrong.kind)},
                                         {"message", lang::make_string(memory_, wrong.violation)},
                                         {"location", lang::make_string(memory_, wrong.location)}});
    return what;
}

} // namespace heddle::tasks
