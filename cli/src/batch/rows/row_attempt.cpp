#include "batch/rows/row_attempt.hpp"

#include "json_or_text.hpp"
#include "render.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/host/step_log.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/realm.hpp>
#include <heddle/setup/journal/row_failures.hpp>
#include <heddle/setup/json_line.hpp>
#include <heddle/tasks/output/task_result.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>

namespace heddle::cli {

namespace {

using lang::value;

constexpr std::size_t max_trace = 20;
constexpr std::size_t max_said = 4000; ///< bytes of a response that could not be used

std::string reason_of(const error& failure) {
    std::string text(lang::error_kind_name(failure));
    const auto* script = dynamic_cast<const lang::script_payload*>(failure.info().payload.get());
    if (script && !script->reason.empty()) text += " " + script->reason;
    return text;
}

/// The error as the command line prints it, without what is long and differs from run to run.
std::string json_of_error(const error& failure, const source_map& sources) {
    boost::json::value whole =
        json_or_text(render_error_json(failure, sources, exit_code::failed, {}));
    boost::json::object described = std::move(whole.as_object().at("error").as_object());
    described.erase("result");
    if (const value* failed = failed_result_in(failure)) {
        const std::string said = said_in_failure(*failed);
        if (!said.empty()) described["content"] = utf8::prefix(said, max_said);
    }
    if (auto* trace = described.if_contains("trace"); trace && trace->is_array()) {
        auto& lines = trace->get_array();
        if (lines.empty()) described.erase("trace");
        else if (lines.size() > max_trace) lines.erase(lines.begin() + max_trace, lines.end());
    }
    return setup::json_text(described);
}

/// The result of a row: of a task's result its content, since its notes differ from run to run.
result<std::string> json_of_value(lang::heap& memory, const value& content) {
    if (tasks::is_failed_result(content)) return tasks::task_error_of(content);
    HEDDLE_TRY(value plain, tasks::without_results(memory, content));
    return lang::value_to_json(plain);
}

} // namespace

row_outcome failed_outcome(const error& failure, const source_map& sources) {
    row_outcome outcome;
    outcome.what = row_outcome::kind::failed;
    outcome.error_json = json_of_error(failure, sources);
    outcome.reason = reason_of(failure);
    outcome.message = failure.message();
    outcome.step_message = setup::message_of_step(failure);
    return outcome;
}

coro::task<row_outcome> attempt_row(row_session* with, const row_binding* binding,
                                    const rows::row* row, host::run_options bounds) {
    host::session& session = with->get();
    with->meter().begin_row(row->id);
    (void)with->meter().take();
    (void)with->meter().take_contacts();
    auto arguments = binding->bind(session, with->main(), row->json);
    if (!arguments) {
        row_outcome outcome = failed_outcome(arguments.error(), session.realm().sources());
        outcome.what = row_outcome::kind::rejected;
        co_return outcome;
    }
    result<value> ended = co_await session.call(with->main(), *std::move(arguments), bounds);
    row_outcome outcome;
    if (ended) {
        const bool is_failed = tasks::is_failed_result(*ended);
        auto json = json_of_value(session.memory(), *std::move(ended));
        if (json) outcome.value_json = *std::move(json);
        else outcome = failed_outcome(json.error(), session.realm().sources());
        outcome.of_value = !json && !is_failed;
    } else if (ended.error().is_cancelled() && bounds.cancel && bounds.cancel->requested()) {
        outcome.what = row_outcome::kind::cancelled;
    } else {
        outcome = failed_outcome(ended.error(), session.realm().sources());
        const auto* payload = ended.error().info().payload.get();
        outcome.misfit = dynamic_cast<const host::journal_mismatch*>(payload) != nullptr;
        outcome.attempt = host::end_of_attempt(ended.error());
    }
    ended = value();
    outcome.spent = with->meter().take();
    outcome.contacts = with->meter().take_contacts();
    outcome.outage = has_outage(outcome.contacts) && outcome.what == row_outcome::kind::failed;
    co_return outcome;
}

} // namespace heddle::cli
