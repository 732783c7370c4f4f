#include <heddle/tasks/session/dispatch.hpp>

#include "tasks/output/message_json.hpp"

#include <heddle/base/ascii.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/json_bridge.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/printer.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_error.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

using lang::kind;
using lang::value;

constexpr std::string_view file_context = "file_context";

/// Makes the answers of one request.
class answer_maker {
public:
    answer_maker(lang::heap& memory, std::string_view path) : memory_(memory), path_(path) {}

    [[nodiscard]] value failed(const task_error& what) const {
        value notes = notes_with_path(value::empty_map());
        notes = lang::map_put(memory_, std::move(notes), "error", to_value(memory_, what));
        return result_of("FAILED", lang::make_string(memory_, what.message), std::move(notes));
    }
    [[nodiscard]] value failed(task_failure_reason reason, std::string message) const {
        return failed(task_error{std::move(message), task_error::failure{reason, {}}});
    }

    /// A TaskResult as it is, with the path in its notes; any other value as the content of one.
    [[nodiscard]] value complete(value given) const {
        if (is_task_result(given)) {
            const value* notes = lang::map_find(given, "notes");
            value changed = notes_with_path(notes->is(kind::map) ? *notes : value::empty_map());
            return lang::map_put(memory_, std::move(given), "notes", std::move(changed));
        }
        value result = result_of("COMPLETE", text_of(given), notes_with_path(value::empty_map()));
        const bool data = !given.is(kind::string) && message_json(given).has_value();
        if (!data) return result;
        return lang::map_put(memory_, std::move(result), "parsedContent", std::move(given));
    }

private:
    [[nodiscard]] static bool is_task_result(const value& given) {
        if (!given.is(kind::map) || !lang::map_find(given, "content") ||
            !lang::map_find(given, "notes")) {
            return false;
        }
        const value* status = lang::map_find(given, "status");
        if (!status || !status->is(kind::string)) return false;
        const std::string_view word = lang::string_bytes(*status);
        return word == "COMPLETE" || word == "FAILED" || word == "CONTINUATION";
    }
    [[nodiscard]] value text_of(const value& given) const {
        if (given.is(kind::string)) return given;
        if (given.is_nil()) return lang::make_string(memory_, "");
        auto json = message_json(given);
        return lang::make_string(memory_, json ? *json : lang::print_value(given));
    }
    [[nodiscard]] value notes_with_path(value notes) const {
        if (path_.empty()) return notes;
        return lang::map_put(memory_, std::move(notes), "execution_path",
                             lang::make_string(memory_, path_));
    }
    [[nodiscard]] value result_of(std::string_view status, value content, value notes) const {
        value result = value::empty_map();
        result =
            lang::map_put(memory_, std::move(result), "status", lang::make_string(memory_, status));
        result = lang::map_put(memory_, std::move(result), "content", std::move(content));
        return lang::map_put(memory_, std::move(result), "notes", std::move(notes));
    }

    lang::heap& memory_;
    std::string_view path_;
};

/// A list of paths, also when it came as a JSON array in a string. Nothing when it is neither.
[[nodiscard]] std::optional<value> paths_of(lang::heap& memory, value given) {
    if (given.is(kind::string)) {
        auto read = lang::json_to_value(memory, lang::string_bytes(given));
        if (!read) return std::nullopt;
        given = *std::move(read);
    }
    if (!given.is(kind::list)) return std::nullopt;
    const auto items = lang::list_items(given);
    const bool paths = std::all_of(items.begin(), items.end(),
                                   [](const value& each) { return each.is(kind::string); });
    if (!paths) return std::nullopt;
    return given;
}

/// One request, without its waiting.
class request_reading {
public:
    request_reading(host::session& session, dispatch_request& request)
        : session_(session), memory_(session.memory()), request_(request) {}

    /// The answer that needs no run, or nothing: then `forms` or `text` is to be run.
    std::optional<value> read() {
        request_.identifier = std::string(ascii::trim(request_.identifier));
        const std::string& id = request_.identifier;
        if (!request_.params.is_nil() && !request_.params.is(kind::map)) {
            return answers().failed(task_failure_reason::input_validation_failure,
                                    "the parameters must be a map of names");
        }
        if (id.empty()) {
            return answers().failed(task_failure_reason::input_validation_failure,
                                    "there is nothing to run: the identifier is empty");
        }
        if (id.starts_with("(") || id.starts_with("'(")) return read_workflow();
        const host::operator_source* operators = session_.operators();
        auto found = operators ? operators->find(memory_, id) : std::nullopt;
        if (!found) return unknown();
        return read_call(*std::move(found));
    }

    [[nodiscard]] answer_maker answers() const { return {memory_, path_}; }

    std::string text;               ///< of a workflow
    std::vector<lang::datum> forms; ///< of a call

private:
    std::optional<value> read_workflow() {
        path_ = "workflow";
        text = std::move(request_.identifier);
        if (text.starts_with('\'')) text.erase(0, 1); // '(…) is the workflow that is quoted
        for (const lang::map_entry& entry : lang::map_entries(params())) {
            const std::string_view name = lang::string_bytes(entry.key);
            value item = entry.item;
            if (name == file_context) {
                auto paths = paths_of(memory_, std::move(item));
                if (!paths) return bad_paths();
                item = *std::move(paths);
            }
            session_.define(name, std::move(item));
        }
        return std::nullopt;
    }

    std::optional<value> unknown() {
        std::vector<std::string> names;
        session_.operators() ? session_.operators()->collect_names(names) : void();
        std::string message =
            "there is no template or tool '" + utf8::shortened(request_.identifier, 80) + "'";
        const std::string near = lang::suggest_names(request_.identifier, names);
        if (!near.empty()) message += "; " + near;
        return answers().failed(task_failure_reason::template_not_found, std::move(message));
    }

    std::optional<value> bad_paths() const {
        return answers().failed(task_failure_reason::input_validation_failure,
                                "file_context must be a list of paths, or a JSON array of them in "
                                "a string");
    }

    /// (CALLABLE (name 'value) …)
    std::optional<value> read_call(lang::operator_info found) {
        path_ = found.is_tool ? "tool" : "template";
        std::vector<value> call{found.callable};
        std::string unknown;
        for (const lang::map_entry& entry : lang::map_entries(params())) {
            std::string name(lang::string_bytes(entry.key));
            value item = entry.item;
            const bool declared = knows(found, name);
            if (name == file_context && !declared) {
                auto paths = paths_of(memory_, std::move(item));
                if (!paths) return bad_paths();
                item = *std::move(paths);
                name = found.is_tool ? "file_paths" : "files";
            }
            const bool reserved = !found.is_tool && session_.operators()->is_reserved_key(name);
            if (!reserved && found.declares_inputs && !knows(found, name)) {
                unknown += (unknown.empty() ? "" : ", ") + name;
                continue;
            }
            call.push_back(clause(name, std::move(item)));
        }
        if (!unknown.empty()) return unknown_inputs(found, unknown);
        forms.push_back({lang::make_list(memory_, call), {}});
        return std::nullopt;
    }

    [[nodiscard]] static bool knows(const lang::operator_info& found, const std::string& name) {
        return std::find(found.inputs.begin(), found.inputs.end(), name) != found.inputs.end();
    }

    std::optional<value> unknown_inputs(const lang::operator_info& found,
                                        const std::string& unknown) const {
        std::string known;
        for (const std::string& name : found.inputs) known += (known.empty() ? "" : ", ") + name;
        return answers().failed(
            task_failure_reason::input_validation_failure,
            std::string(path_) + " '" + found.name + "' has no input " + unknown +
                (known.empty() ? "; it has none" : "; its inputs are " + known));
    }

    [[nodiscard]] value clause(std::string_view name, value item) const {
        const std::vector<value> quoted{memory_.symbol("quote"), std::move(item)};
        const std::vector<value> pair{memory_.symbol(name), lang::make_list(memory_, quoted)};
        return lang::make_list(memory_, pair);
    }

    [[nodiscard]] value params() const {
        return request_.params.is_nil() ? value::empty_map() : request_.params;
    }

    host::session& session_;
    lang::heap& memory_;
    dispatch_request& request_;
    std::string_view path_;
};

} // namespace

coro::task<result<value>> dispatch(host::session& session, dispatch_request request) {
    request_reading reading(session, request);
    if (auto answer = reading.read()) co_return *std::move(answer);
    result<value> ended = value();
    if (!reading.text.empty()) {
        ended = co_await session.evaluate("<workflow>", std::move(reading.text), request.options);
    } else {
        ended = co_await session.evaluate_forms(std::move(reading.forms), request.options);
    }
    if (ended) co_return reading.answers().complete(*std::move(ended));
    const error& failure = ended.error();
    if (failure.is_cancelled() && failure.cancelled_because() != cancel_reason::deadline) {
        co_return ended;
    }
    co_return reading.answers().failed(task_error_from(failure));
}

} // namespace heddle::tasks
