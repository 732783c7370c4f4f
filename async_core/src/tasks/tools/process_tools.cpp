#include "tasks/tools/process_tools.hpp"

#include "tasks/output/shown_value.hpp"
#include "tasks/tools/process_result_value.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/objects.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <chrono>
#include <cmath>

namespace heddle::tasks {

namespace {

using lang::kind;
using lang::value;
using ports::process_errc;

constexpr std::int64_t max_output_bytes = 16 * 1024 * 1024;
constexpr std::size_t max_input_bytes = 64 * 1024 * 1024;
constexpr double max_timeout = 7.0 * 24 * 3600;

constexpr std::string_view input_schema = R"({
  "type": "object",
  "properties": {
    "command": {"anyOf": [{"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1}],
      "description":
        "A command line for the shell, or a list of program and arguments that runs without one"},
    "input": {"type": "string", "description": "Text for its standard input"},
    "cwd": {"type": "string", "description": "Directory to run in, inside the workspace"},
    "env": {"type": "object", "additionalProperties": {"type": "string"},
      "description": "Variables of the environment, besides those that it inherits"},
    "timeout": {"type": "number", "exclusiveMinimum": 0,
      "description": "Seconds after which it is ended"},
    "max_output": {"type": "integer", "minimum": 1, "maximum": 16777216,
      "description": "Bytes of output to keep, of each stream"}
  },
  "required": ["command"],
  "additionalProperties": false
})";

/// Reads the clauses of one call.
class script_reader {
public:
    script_reader(std::string_view tool, const value& inputs) : tool_(tool), inputs_(inputs) {}

    result<ports::process_request> read() {
        ports::process_request request;
        HEDDLE_CHECK(read_command(request));
        if (const value* given = given_value("input")) {
            if (!given->is(kind::string)) return wrong("input", "a string", *given);
            request.input = lang::string_bytes(*given);
            if (request.input.size() > max_input_bytes) {
                return error(lang::errc::limit, tool_ + ": input is longer than " +
                                                    std::to_string(max_input_bytes) + " bytes")
                    .with_hint("write it to a file first");
            }
        }
        if (const value* given = given_value("cwd")) {
            if (!given->is(kind::string)) return wrong("cwd", "a string", *given);
            request.directory = lang::string_bytes(*given);
        }
        HEDDLE_CHECK(read_environment(request));
        HEDDLE_CHECK(read_limits(request));
        return request;
    }

private:
    /// Null for a clause that is not there, and for nil.
    [[nodiscard]] const value* given_value(std::string_view clause) const {
        const value* found = lang::map_find(inputs_, clause);
        return found && !found->is_nil() ? found : nullptr;
    }

    [[nodiscard]] error wrong(std::string_view clause, std::string_view wanted,
                              const value& given) const {
        return wrong_value(tool_, clause, wanted, given);
    }

    result<void> read_command(ports::process_request& request) const {
        constexpr std::string_view wanted = "a command line or a list of strings";
        const value* given = given_value("command");
        if (!given) return wrong("command", wanted, value());
        if (given->is(kind::string)) {
            request.through_shell = true;
            request.arguments.emplace_back(lang::string_bytes(*given));
            return {};
        }
        if (!given->is(kind::list) || given->length() == 0) return wrong("command", wanted, *given);
        for (const value& each : lang::list_items(*given)) {
            if (!each.is(kind::string)) return wrong("command", wanted, *given);
            request.arguments.emplace_back(lang::string_bytes(each));
        }
        return {};
    }

    result<void> read_environment(ports::process_request& request) const {
        const value* given = given_value("env");
        if (!given) return {};
        if (!given->is(kind::map)) return wrong("env", "a map of strings", *given);
        for (const lang::map_entry& entry : lang::map_entries(*given)) {
            if (!entry.item.is(kind::string)) return wrong("env", "a map of strings", *given);
            request.environment.emplace_back(lang::string_bytes(entry.key),
                                             lang::string_bytes(entry.item));
        }
        return {};
    }

    result<void> read_limits(ports::process_request& request) const {
        if (const value* given = given_value("timeout")) {
            const double seconds = given->is_integer() ? static_cast<double>(given->as_integer())
                                   : given->is_real()  ? given->as_real()
                                                       : 0;
            if (!(seconds > 0) || seconds > max_timeout) {
                return wrong("timeout", "a number of seconds above 0", *given);
            }
            request.timeout =
                std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
        }
        if (const value* given = given_value("max_output")) {
            if (!given->is_integer() || given->as_integer() < 1 ||
                given->as_integer() > max_output_bytes) {
                return wrong("max_output", "a number of bytes from 1 to 16777216", *given);
            }
            request.max_output = static_cast<std::size_t>(given->as_integer());
        }
        return {};
    }

    std::string tool_;
    const value& inputs_;
};

[[nodiscard]] bool is_workflow_mistake(const error& failure) {
    return failure.code() == make_error_code(process_errc::bad_directory) ||
           failure.code() == make_error_code(process_errc::invalid_argument);
}

/// A program that did not start, as the shell reports it.
[[nodiscard]] value not_started(lang::heap& memory, const error& failure) {
    ports::process_result none;
    none.exit_code = failure.code() == make_error_code(process_errc::not_found) ? 127 : 126;
    none.err = failure.message();
    value notes = process_notes(memory, none);
    std::string said = failure.message();
    if (!failure.info().hint.empty()) said += " (" + failure.info().hint + ")";
    return tool_result(memory, lang::make_string(memory, ""), std::move(notes),
                       to_string(task_failure_reason::tool_execution_error), said);
}

coro::task<result<value>> run_script(ports::process_port* processes, std::string name,
                                     std::string hint, tool_call call) {
    auto request = script_reader(name, call.inputs).read();
    if (!request) co_return std::move(request).error();
    if (!processes) co_return no_programs(name, hint);
    const std::chrono::milliseconds timeout = request->timeout;
    result<ports::process_result> ended =
        co_await processes->run(*std::move(request), call.context);
    lang::heap& memory = call.session.memory();
    if (!ended) {
        error failure = std::move(ended).error();
        if (failure.is_cancelled()) co_return failure;
        if (is_workflow_mistake(failure)) {
            co_return error(lang::errc::evaluation, name + ": " + failure.message())
                .with_hint(failure.info().hint)
                .with_cause(failure);
        }
        co_return not_started(memory, failure);
    }
    constexpr const char* hint_of_limit = "keep less of it: (max_output bytes)";
    if (!memory.can_allocate(2 * ended->out.size() + ended->err.size())) {
        co_return error(lang::errc::limit, name + ": the output does not fit in the memory limit")
            .with_hint(hint_of_limit);
    }
    std::string message;
    if (ended->exit_code != 0 || ended->timed_out) {
        message = "the command " + describe_end(*ended, timeout);
    }
    std::string_view reason; // empty: it did not fail
    if (ended->timed_out) reason = to_string(task_failure_reason::execution_timeout);
    else if (!message.empty()) reason = to_string(task_failure_reason::tool_execution_error);
    result<value> notes =
        co_await process_notes_in_turns(memory, *std::move(ended), call.context, std::move(name));
    if (!notes) {
        error failure = std::move(notes).error();
        if (failure.code() == lang::errc::limit)
            failure = std::move(failure).with_hint(hint_of_limit);
        co_return failure;
    }
    value content = *lang::map_find(*notes, "stdout");
    co_return tool_result(memory, std::move(content), *std::move(notes), reason, message);
}

} // namespace

std::vector<tool> process_tools(ports::process_port* processes, std::string hint) {
    tool created;
    created.name = "system:run_script";
    created.aliases = {"system:execute_shell_command"};
    created.description =
        "Runs a program or a shell command in the workspace and returns its output "
        "and exit code";
    created.input_schema = input_schema;
    created.check_values = [name = created.name](const value& inputs) -> result<void> {
        HEDDLE_CHECK(script_reader(name, inputs).read());
        return {};
    };
    created.run = [processes, name = created.name, hint = std::move(hint)](tool_call call) {
        return run_script(processes, name, hint, std::move(call));
    };
    return {std::move(created)};
}

} // namespace heddle::tasks
