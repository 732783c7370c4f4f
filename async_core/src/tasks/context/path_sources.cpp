#include "tasks/context/path_sources.hpp"

#include "tasks/context/context_lookup.hpp"
#include "tasks/output/message_json.hpp"

#include <heddle/base/keyed_hash.hpp>
#include <heddle/base/utf8.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

namespace heddle::tasks {

namespace {

using lang::kind;
using lang::value;

constexpr std::size_t max_question_length = 16 * 1024; ///< of an input or a prompt in a look-up
constexpr std::string_view nobody_wrote = "Inline task definition";

/// `text` with its placeholders filled.
[[nodiscard]] result<std::string> filled(const task_call& call, std::string_view clause,
                                         std::string_view text) {
    std::string out;
    auto compiled = prompt_template::compile(text, nullptr);
    result<void> done;
    if (compiled) done = compiled->fill(out, call.inputs);
    if (compiled && done) return out;
    const error& inner = compiled ? done.error() : compiled.error();
    return task_failed(task_failure_reason::input_validation_failure,
                       "task " + call.task->declared.name + ": " + std::string(clause) + ": " +
                           inner.message())
        .with_span(call.span);
}

[[nodiscard]] bool takes_part(const task_template& declared, std::string_view input) {
    bool chosen_ones = false; // some are named as taking part: then the others do not
    for (const context_relevance_input& one : declared.relevance) {
        if (one.name == input) return one.include;
        chosen_ones = chosen_ones || one.include;
    }
    return !chosen_ones;
}

/// The lines of what a command printed.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, std::size_t most) {
    std::vector<std::string> strings;
    while (!text.empty() && strings.size() < most) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.empty()) strings.emplace_back(line);
    }
    return strings;
}

[[nodiscard]] std::string first_line(std::string_view text) {
    return utf8::shortened(text.substr(0, std::min(text.find('\n'), text.size())), 200);
}

/// What follows the root in a path that begins with it; other paths as they are. ".." remains:
/// after a link it is another directory than the text shows, and the file port follows links.
[[nodiscard]] std::string below_root(std::string path, const context_options& options) {
    for (const std::string& root : options.roots) {
        const std::size_t bytes = root.ends_with('/') ? root.size() - 1 : root.size();
        if (path.size() <= bytes || path[bytes] != '/' ||
            path.compare(0, bytes, root, 0, bytes) != 0) {
            continue;
        }
        const std::size_t first = path.find_first_not_of('/', bytes);
        if (first == std::string::npos) continue; // the root itself
        // A path that leaves the root again stays absolute: relative, it would be refused.
        const auto normal = std::filesystem::path(path.substr(first)).lexically_normal();
        if (*normal.begin() != "..") return path.substr(first);
    }
    return path;
}

/// Drops what was named before.
void make_unique(std::vector<std::string>& paths) {
    std::unordered_set<std::string, name_hash> seen;
    std::erase_if(paths, [&](const std::string& path) { return !seen.insert(path).second; });
}

/// The output of a command, as paths and warnings.
void take_output(ports::process_result ended, const std::string& command, std::size_t most,
                 sourced_paths& sourced) {
    const auto warn = [&](const std::string& what) {
        sourced.warnings.push_back("file_paths: the command `" + first_line(command) + "` " + what);
    };
    if (ended.exit_code != 0) {
        warn("ended with " + std::to_string(ended.exit_code) +
             (ended.err.empty() ? "" : ": " + first_line(ended.err)));
    }
    if (ended.out_dropped != 0) {
        warn("printed too much; the rest is left out");
        const std::size_t last = ended.out.rfind('\n'); // a path that is cut names another file
        ended.out.resize(last == std::string::npos ? 0 : last);
    }
    sourced.paths = lines_of(ended.out, most + 1);
    std::erase_if(sourced.paths, [&](const std::string& path) {
        if (utf8::is_valid(path) && path.size() <= 4096 && path.find('\0') == std::string::npos) {
            return false;
        }
        warn("printed something that is not a path");
        return true;
    });
}

coro::task<result<sourced_paths>> run_command(context_sources sources, context_options options,
                                              std::string command, coro::call_context context) {
    sourced_paths paths;
    paths.source = context_source::task_template;
    const std::string shown = first_line(command);
    if (!sources.processes) {
        paths.warnings.push_back("file_paths: the command `" + shown +
                                 "` is not run: this program runs no commands");
        if (!sources.processes_hint.empty()) {
            paths.warnings.back() += "; " + std::string(sources.processes_hint);
        }
        co_return paths;
    }
    ports::process_request request;
    request.arguments.push_back(command);
    request.through_shell = true;
    request.max_output = options.max_command_output;
    const coro::deadline own(context.loop->now() + options.command_timeout);
    result<ports::process_result> ended =
        co_await sources.processes->run(std::move(request), context.with_deadline(own));
    if (ended) {
        take_output(*std::move(ended), command, options.max_files, paths);
        co_return paths;
    }
    const auto now = context.loop->now();
    const bool too_slow = ended.error().cancelled_because() == cancel_reason::deadline &&
                          !context.cancelled() && !context.until.passed(now);
    if (ended.error().is_cancelled() && !too_slow) co_return std::move(ended).error();
    const auto seconds = std::chrono::duration<double>(options.command_timeout).count();
    paths.warnings.push_back(
        "file_paths: the command `" + shown +
        (too_slow ? "` did not end within " + std::to_string(static_cast<int>(seconds)) + " s"
                  : "` cannot be run: " + ended.error().message()));
    co_return paths;
}

/// What the memory is asked for a task.
[[nodiscard]] ports::memory_request request_of(const context_request& request,
                                               const context_question& question, std::string query,
                                               std::size_t limit) {
    ports::memory_request lookup;
    lookup.query = std::move(query);
    lookup.inputs = question.inputs;
    lookup.template_description = question.description;
    lookup.limit = limit;
    if (request.inherited && !request.inherited->parts.empty()) {
        std::string known;
        for (const context_part& part : request.inherited->parts) known += part.path + "\n";
        utf8::shorten(known, max_question_length);
        lookup.inherited_context = std::move(known);
    }
    return lookup;
}

coro::task<result<sourced_paths>> ask_memory(ports::memory_port* memory, context_options options,
                                             const context_request& request,
                                             ports::memory_request wanted, context_source source) {
    sourced_paths sourced;
    sourced.source = source;
    if (!memory) {
        sourced.warnings.emplace_back("no files are looked up: there is no index of files");
        co_return sourced;
    }
    lookup_caller caller;
    caller.session = request.session;
    caller.scope = request.call->scope;
    caller.span = request.call->span;
    caller.context = request.context;
    caller.warnings = &sourced.warnings;
    result<ports::memory_response> response =
        co_await look_up_context(memory, options.matching, std::move(wanted), caller);
    if (!response && response.error().is_cancelled()) co_return std::move(response).error();
    const std::string trouble =
        !response ? response.error().message() : response->error.value_or("");
    if (!trouble.empty()) {
        error failed = task_failed(task_failure_reason::context_retrieval_failure,
                                   "the context cannot be looked up: " + trouble)
                           .with_span(request.call->span);
        if (!response && !response.error().info().hint.empty()) {
            failed = std::move(failed).with_hint(response.error().info().hint);
        }
        co_return failed;
    }
    for (ports::memory_match& match : response->matches)
        sourced.paths.push_back(std::move(match.path));
    co_return sourced;
}

/// Set explicitly: it does not come from the preset alone.
[[nodiscard]] bool asks_for_fresh_context(const task_call& call) {
    return call.task->declared.context.fresh_context == true ||
           (call.overrides && call.overrides->context.fresh_context == true);
}

/// The paths of a list of strings.
[[nodiscard]] std::vector<std::string> listed(const value& files) {
    std::vector<std::string> strings;
    for (const value& path : lang::list_items(files)) {
        if (path.is(kind::string)) strings.emplace_back(lang::string_bytes(path));
    }
    return strings;
}

} // namespace

result<context_question> question_of(const task_call& call) {
    const task_template& declared = call.task->declared;
    context_question question;
    const bool described = !declared.description.empty() && declared.description != nobody_wrote;
    HEDDLE_TRY(question.description,
               filled(call, described ? "description" : "instructions",
                      described ? declared.description : declared.instructions));
    utf8::shorten(question.description, max_question_length);
    for (const bound_input& input : call.inputs) {
        if (!input.given || !takes_part(declared, input.name)) continue;
        if (input.content.is(kind::string)) {
            question.inputs.push_back(
                {std::string(input.name), std::string(lang::string_bytes(input.content))});
        } else {
            auto json = message_json(input.content);
            if (!json) continue; // a function is not a description of files
            question.inputs.push_back({std::string(input.name), *std::move(json)});
        }
        utf8::shorten(question.inputs.back().text, max_question_length);
    }
    return question;
}

coro::task<result<std::vector<std::string>>> names_of_files(ports::file_port& files,
                                                            context_options options,
                                                            std::vector<std::string> paths,
                                                            coro::call_context context) {
    for (std::string& path : paths) path = below_root(std::move(path), options);
    make_unique(paths); // before each is looked for
    result<std::vector<std::string>> names = co_await files.names_of(std::move(paths), context);
    if (names) make_unique(*names);
    co_return names;
}

void limit_files(std::vector<std::string>& names, std::vector<std::string>& warnings,
                 std::size_t most) {
    if (names.size() <= most) return;
    warnings.push_back("only the first " + std::to_string(most) + " of " +
                       std::to_string(names.size()) + " files are taken");
    names.resize(most); // heddle-check: allow cut-text (a list)
}

value files_around(const lang::dynamic_scope& scope) noexcept {
    const value* found = lang::map_find(scope.settings, "files");
    return found ? *found : value();
}

coro::task<result<sourced_paths>> find_paths(context_sources parts, context_options options,
                                             const context_request& request,
                                             const context_question& question,
                                             effective_context settings) {
    const task_call& call = *request.call;
    const task_template& declared = call.task->declared;
    sourced_paths sourced;
    if (call.overrides && !call.overrides->files.is_nil()) {
        sourced.paths = listed(call.overrides->files);
        sourced.source = context_source::explicit_request;
    } else if (declared.files && declared.files->from == file_paths_source::kind::literal) {
        sourced.paths = declared.files->paths;
        sourced.source = context_source::task_template;
    } else if (declared.files && declared.files->from == file_paths_source::kind::command) {
        result<sourced_paths> printed =
            co_await run_command(parts, options, declared.files->text, request.context);
        if (!printed) co_return printed;
        sourced = *std::move(printed);
    } else if (declared.files) {
        auto query = filled(call, "file_paths", declared.files->text);
        if (!query) co_return std::move(query).error();
        auto wanted = request_of(request, question, *std::move(query), options.lookup_limit);
        result<sourced_paths> found = co_await ask_memory(
            parts.memory, options, request, std::move(wanted), context_source::task_template);
        if (!found) co_return found;
        sourced = *std::move(found);
    } else if (settings.fresh_context && (parts.memory || asks_for_fresh_context(call))) {
        auto wanted = request_of(request, question, question.description, options.lookup_limit);
        // The question is the description: once is enough.
        wanted.template_description.reset();
        result<sourced_paths> found = co_await ask_memory(
            parts.memory, options, request, std::move(wanted), context_source::automatic_lookup);
        if (!found) co_return found;
        sourced = *std::move(found);
    }
    co_return sourced;
}

} // namespace heddle::tasks
