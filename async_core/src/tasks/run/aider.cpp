#include <heddle/tasks/run/aider.hpp>

#include "tasks/tools/process_result_value.hpp"

#include <heddle/base/utf8.hpp>
#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>

namespace heddle::tasks {

namespace {

using lang::kind;
using lang::value;
using ports::process_errc;

constexpr std::size_t max_argument_bytes = 64 * 1024; ///< the system takes 128 KiB
constexpr std::size_t max_shown_bytes = 4096;         ///< of a prompt, on the terminal

/// The exit codes of the shell for a program that is not there or cannot be executed.
constexpr int shell_not_found = 127;
constexpr int shell_not_permitted = 126;

/// Shows its first argument on the terminal and becomes the program that the others name.
constexpr std::string_view show_and_become = "printf '\\n%s\\n\\n' \"$1\"; shift; exec \"$@\"";

[[nodiscard]] const bound_input* find_input(const task_call& call, std::string_view name) {
    const auto found = std::find_if(call.inputs.begin(), call.inputs.end(),
                                    [&](const bound_input& each) { return each.name == name; });
    return found == call.inputs.end() || !found->given ? nullptr : &*found;
}

[[nodiscard]] std::string message_of(const executor_request& request) {
    std::string message = request.system;
    const auto add = [&](std::string_view text) {
        if (text.empty()) return;
        if (!message.empty()) message += "\n\n";
        message += text;
    };
    add(request.prompt);
    if (!request.call->task->declared.instructions.empty()) return message;
    for (const std::string_view name : {"prompt", "initial_query"}) {
        const bound_input* given = find_input(*request.call, name);
        if (given && given->content.is(kind::string)) add(lang::string_bytes(given->content));
    }
    return message;
}

[[nodiscard]] std::vector<std::string> files_of(const executor_request& request) {
    std::vector<std::string> strings;
    if (request.files) {
        for (const context_part& part : request.files->parts) strings.push_back(part.path);
        return strings;
    }
    const call_overrides* overrides = request.call->overrides.get();
    if (overrides && overrides->files.is(kind::list)) {
        for (const value& each : lang::list_items(overrides->files)) {
            if (each.is(kind::string)) strings.emplace_back(lang::string_bytes(each));
        }
        return strings;
    }
    const auto& declared = request.call->task->declared.files;
    if (declared && declared->from == file_paths_source::kind::literal) strings = declared->paths;
    return strings;
}

[[nodiscard]] std::string_view model_of(const task_call& call) {
    if (call.overrides && !call.overrides->model.empty()) return call.overrides->model;
    return call.task->declared.model;
}

[[nodiscard]] value list_of(lang::heap& memory, const std::vector<std::string>& texts) {
    value result = value::empty_list();
    for (const std::string& each : texts) {
        result = lang::list_push_back(memory, std::move(result), lang::make_string(memory, each));
    }
    return result;
}

/// A message cut for the terminal, without what could steer it.
[[nodiscard]] std::string shown(std::string_view message) {
    return utf8::printable(utf8::shortened(message, max_shown_bytes, " …"));
}

[[nodiscard]] executor_response absent(const std::string& program, const std::string& why) {
    executor_response response;
    response.failure_reason = to_string(task_failure_reason::dependency_error);
    response.failure_message = "the program \"" + program + "\" cannot be run: " + why +
                               "; install Aider (python3 -m pip install aider-install && "
                               "aider-install), or say which program to run in its place";
    response.content = response.failure_message;
    return response;
}

} // namespace

std::string_view aider_subtype(aider_mode mode) noexcept {
    return mode == aider_mode::automatic ? "aider_automatic" : "aider_interactive";
}

std::vector<std::string> edited_files(std::string_view output) {
    constexpr std::string_view said = "Applied edit to ";
    std::vector<std::string> strings;
    while (!output.empty()) {
        const std::size_t end = output.find('\n');
        std::string_view line = output.substr(0, end);
        output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
        if (!line.starts_with(said)) continue;
        line.remove_prefix(said.size());
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        const bool known = std::find(strings.begin(), strings.end(), line) != strings.end();
        if (!line.empty() && !known) strings.emplace_back(line);
    }
    return strings;
}

aider_executor::aider_executor(ports::process_port* processes, aider_mode mode,
                               aider_options options)
    : processes_(processes), mode_(mode), options_(std::move(options)) {}

coro::task<result<executor_response>> aider_executor::execute(executor_request request) {
    if (!processes_) co_return no_programs(aider_subtype(mode_), options_.hint);
    if (options_.command.empty()) {
        co_return task_failed(task_failure_reason::configuration_error,
                              "no program is named for Aider");
    }
    const bool automatic = mode_ == aider_mode::automatic;
    const std::string message = message_of(request);
    const std::vector<std::string> files = files_of(request);

    ports::process_request asked;
    asked.max_output = options_.max_output;
    asked.secrets = options_.secrets;
    std::vector<std::string>& arguments = asked.arguments;
    if (!automatic) {
        asked.io = ports::process_io::terminal;
        arguments = {"sh", "-c", std::string(show_and_become), "sh", shown(message)};
    }
    const auto append = [&](const std::vector<std::string>& more) {
        arguments.insert(arguments.end(), more.begin(), more.end());
    };
    append(options_.command);
    append(automatic ? options_.automatic_arguments : options_.interactive_arguments);
    if (const std::string_view model = model_of(*request.call); !model.empty()) {
        arguments.emplace_back("--model");
        arguments.emplace_back(model);
    }
    if (automatic && message.size() <= max_argument_bytes) {
        append({"--message", message});
    } else if (automatic) {
        append({"--message-file", "/dev/stdin"});
        asked.input = message;
    }
    for (const std::string& file : files) {
        arguments.push_back(file.starts_with('-') ? "./" + file : file);
    }

    result<ports::process_result> ended =
        co_await processes_->run(std::move(asked), request.context);
    const std::string& program = options_.command.front();
    if (!ended) {
        const error& failure = ended.error();
        if (failure.is_cancelled()) co_return failure;
        if (failure.code() == make_error_code(process_errc::not_found) ||
            failure.code() == make_error_code(process_errc::not_permitted)) {
            co_return absent(program, failure.message());
        }
        co_return task_failed(task_failure_reason::tool_execution_error, failure.message())
            .with_cause(failure);
    }
    if (!automatic &&
        (ended->exit_code == shell_not_found || ended->exit_code == shell_not_permitted)) {
        co_return absent(program, "the shell does not find it, or may not execute it");
    }
    executor_response response;
    if (ended->exit_code != 0) {
        response.failure_reason = to_string(task_failure_reason::tool_execution_error);
        response.failure_message = "\"" + program + "\" " + describe_end(*ended, {});
    }
    lang::heap& memory = request.session->memory();
    response.content = utf8::replace_invalid(std::move(ended->out));
    const std::vector<std::string> changed = edited_files(response.content);
    result<lang::value> notes =
        co_await process_notes_in_turns(memory, *std::move(ended), request.context, program);
    if (!notes) co_return std::move(notes).error();
    response.notes = lang::map_put(memory, *std::move(notes), "files", list_of(memory, files));
    if (automatic) {
        response.notes = lang::map_put(memory, std::move(response.notes), "files_changed",
                                       list_of(memory, changed));
    }
    co_return response;
}

} // namespace heddle::tasks
