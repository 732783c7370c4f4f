#include <heddle/tasks/context/context_builder.hpp>

#include "tasks/context/file_reader.hpp"
#include "tasks/context/path_sources.hpp"

#include <heddle/host/session.hpp>
#include <heddle/lang/errors.hpp>
#include <heddle/lang/list.hpp>
#include <heddle/lang/map.hpp>
#include <heddle/lang/sandbox_policy.hpp>
#include <heddle/lang/text.hpp>
#include <heddle/tasks/output/task_failure_reason.hpp>

#include <algorithm>
#include <optional>

namespace heddle::tasks {

namespace {

constexpr std::int64_t bytes_per_token = 3; ///< less than the usual four: a prompt must fit

[[nodiscard]] result<effective_context> settings_of(const task_call& call) {
    const task_template& declared = call.task->declared;
    return merge_context(call.effective_subtype(), declared.context,
                         call.overrides ? call.overrides->context : context_management());
}

/// Whether anything is matched at all: to fill prompts and write inputs as JSON costs time.
[[nodiscard]] bool needs_question(const task_call& call, const effective_context& settings) {
    if (settings.inherit_context == inherit_mode::subset) return true;
    if (call.overrides && !call.overrides->files.is_nil()) return false;
    const auto& files = call.task->declared.files;
    if (!files) return settings.fresh_context;
    return files->from == file_paths_source::kind::description ||
           files->from == file_paths_source::kind::context_description;
}

[[nodiscard]] std::size_t bytes_for(const context_request& request,
                                    const context_options& options) {
    if (!request.room) return options.max_bytes;
    return static_cast<std::size_t>(std::max<std::int64_t>(0, *request.room) * bytes_per_token);
}

[[nodiscard]] bool holds(const std::vector<context_part>& parts, const std::string& path) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const context_part& part) { return part.path == path; });
}

void append(std::vector<std::string>& to, std::vector<std::string> from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// Code that nobody has read may not choose which files a model, and so it, gets to see.
[[nodiscard]] std::optional<error> refuse_in_sandbox(const task_call& call) {
    if (!call.overrides || !call.scope->sandbox) return std::nullopt;
    const lang::value& files = call.overrides->files;
    const bool names_files = files.is(lang::kind::list) && files.length() != 0;
    if (!names_files && call.overrides->context.fresh_context != true) return std::nullopt;
    error failure(lang::errc::permission, "task " + call.task->declared.name +
                                              ": a call in a sandbox cannot " +
                                              (names_files ? "name files" : "look files up"));
    failure = std::move(failure)
                  .with_hint(
                      "let the definition do it, or name files around the sandbox: "
                      "(with ((files …)) (sandbox …))")
                  .with_span(call.span);
    return lang::with_extent(std::move(failure), call.scope->sandbox->own().as_value());
}

/// Reads paths in the order of the assembly: the first are read and fit first.
coro::task<result<files_read>> read_paths(context_request request, context_sources sources,
                                          context_options options, std::vector<std::string> paths) {
    files_read none;
    if (paths.empty()) co_return none;
    ports::file_port* files =
        sources.files ? sources.files : request.session->engine().parts().files;
    if (!files) {
        none.warnings.emplace_back("no file is read: this program has no access to files");
        co_return none;
    }
    result<std::vector<std::string>> names =
        co_await names_of_files(*files, options, std::move(paths), request.context);
    if (!names) co_return std::move(names).error();
    // Of the files, not of their spellings.
    limit_files(*names, none.warnings, options.max_files);
    std::vector<context_part> named;
    for (std::string& name : *names) named.push_back({std::move(name), nullptr});
    arrange(named, request.call->task->declared.assembly);
    std::vector<std::string> wanted;
    wanted.reserve(named.size());
    for (context_part& part : named) wanted.push_back(std::move(part.path));
    reading_limits limits;
    limits.at_once = options.concurrent_reads;
    limits.max_bytes = bytes_for(request, options);
    result<files_read> read =
        co_await read_context_files(*files, std::move(wanted), limits, request.context);
    if (read)
        read->warnings.insert(read->warnings.begin(), none.warnings.begin(), none.warnings.end());
    co_return read;
}

/// What the caller knows: its context, or the files that the workflow names around the call.
coro::task<result<files_read>> callers_parts(context_request request, context_sources sources,
                                             context_options options) {
    files_read files;
    if (request.inherited) {
        files.parts = request.inherited->parts;
        co_return files;
    }
    const lang::value around = files_around(*request.call->scope);
    if (around.is_nil()) co_return files;
    std::vector<std::string> paths;
    for (const lang::value& path : lang::list_items(around))
        paths.emplace_back(lang::string_bytes(path));
    result<files_read> read = co_await read_paths(request, sources, options, std::move(paths));
    co_return read;
}

} // namespace

bool context_builder::concerns(const task_call& call, bool has_inherited) const noexcept {
    const task_template& declared = call.task->declared;
    if (declared.files || (call.overrides && !call.overrides->files.is_nil())) return true;
    const auto settings = settings_of(call);
    if (!settings) return true; // prepare() reports why
    if (settings->fresh_context && (parts_.memory || declared.context.fresh_context ||
                                    (call.overrides && call.overrides->context.fresh_context))) {
        return true;
    }
    return settings->inherit_context != inherit_mode::none &&
           (has_inherited || !files_around(*call.scope).is_nil());
}

coro::task<result<std::shared_ptr<const assembled_context>>> context_builder::prepare(
    context_request request) {
    const task_call& call = *request.call;
    const task_template& declared = call.task->declared;
    const auto settings = settings_of(call);
    if (!settings) {
        co_return task_failed(task_failure_reason::input_validation_failure,
                              "task " + declared.name + ": " + settings.error().message())
            .with_hint(settings.error().info().hint)
            .with_span(call.span);
    }
    if (auto refused = refuse_in_sandbox(call)) co_return *std::move(refused);
    result<context_question> question = context_question();
    if (needs_question(call, *settings)) question = question_of(call);
    if (!question) co_return std::move(question).error();
    const auto object = std::make_shared<assembled_context>();
    result<sourced_paths> found =
        co_await find_paths(parts_, options_, request, *question, *settings);
    if (!found) co_return std::move(found).error();
    object->source = found->source;
    object->warnings = std::move(found->warnings);
    result<files_read> own =
        co_await read_paths(request, parts_, options_, std::move(found->paths));
    if (!own) co_return std::move(own).error();
    append(object->warnings, std::move(own->warnings));
    std::vector<context_part> parts = std::move(own->parts);
    std::vector<std::string> left_out = std::move(own->left_out);
    if (settings->inherit_context != inherit_mode::none) {
        result<files_read> callers = co_await callers_parts(request, parts_, options_);
        if (!callers) co_return std::move(callers).error();
        append(object->warnings, std::move(callers->warnings));
        append(left_out, std::move(callers->left_out));
        if (settings->inherit_context == inherit_mode::subset) {
            callers->parts = matching_parts(callers->parts, *question);
        }
        for (context_part& part : callers->parts) {
            if (!holds(parts, part.path)) parts.push_back(std::move(part));
        }
        if (!parts.empty() && object->source == context_source::none) {
            object->source = context_source::inherited;
        }
    }
    arrange(parts, declared.assembly);
    object->left_out = std::move(left_out);
    write_context(std::move(parts), bytes_for(request, options_), *object);
    if (!object->left_out.empty()) {
        object->warnings.push_back(
            std::to_string(object->left_out.size()) +
            " of the files did not fit into the context, the first: " + object->left_out.front());
    }
    co_return object;
}

} // namespace heddle::tasks
