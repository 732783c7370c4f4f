#include "application.hpp"

#include "journal/parked_questions.hpp"
#include "logging.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/fs/workspace_files.hpp>
#include <heddle/http/client.hpp>
#include <heddle/process/child_processes.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/program_imports.hpp>
#include <heddle/setup/read_only_files.hpp>
#include <heddle/setup/services/client_options.hpp>
#include <heddle/setup/task_files.hpp>
#include <heddle/tasks/session/session_tasks.hpp>

#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>

#include <sys/resource.h>

namespace heddle::cli {

namespace {

constexpr const char* how_to_allow = "if you trust the workflow, start heddle with --allow-shell";

/// Only errors where the messages of the workflow are not to be shown.
[[nodiscard]] int logged_verbosity(const workflow_options& options) {
    return options.drops_output ? -1 : options.verbosity;
}

/// What get_context looks through: indexed when it is first asked.
result<memory::memory_options> memory_of(const workflow_options& options, log_port& log) {
    memory::memory_options created;
    created.log = &log;
    std::error_code failed;
    const bool named = !options.index.empty();
    for (const std::string& folder : named ? options.index : std::vector{options.workspace}) {
        if (!std::filesystem::is_directory(folder, failed)) {
            return error(errc::invalid_argument,
                         "--index: there is no directory \"" + folder + "\"");
        }
        memory::index_options root;
        root.root = std::filesystem::absolute(folder, failed).string();
        created.roots.push_back(std::move(root));
    }
    if (options.index_file) {
        created.index_file = std::filesystem::absolute(*options.index_file, failed).string();
    }
    return created;
}

/// A directory as it was named, and with its links resolved.
[[nodiscard]] std::vector<std::string> spellings_of(const std::string& folder) {
    std::error_code failed;
    std::vector<std::string> strings;
    const auto named = std::filesystem::absolute(folder, failed).lexically_normal();
    if (!failed) strings.push_back(named.string());
    const auto resolved = std::filesystem::canonical(folder, failed);
    if (!failed && resolved != named) strings.push_back(resolved.string());
    return strings;
}

[[nodiscard]] std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

setup::service_request request_of(const workflow_options& options, const parking_slot& parking) {
    setup::service_request request;
    request.model = options.model;
    request.base_url = options.base_url;
    request.cache = options.cache;
    request.cache_file = options.cache_file;
    request.record = options.record;
    request.replay = options.replay;
    request.replay_leniently = options.replay_leniently;
    request.seed = options.seed;
    request.watch = options.watch;
    request.without_keys = options.without_keys;
    request.from_records = options.from_journal;
    if (options.parks) {
        request.park = [&parking](ports::llm_port& inner, providers::batch_endpoint& batches) {
            return std::make_unique<parking_port>(inner, batches, parking);
        };
    }
    return request;
}

/// Pieces as they come; a line with the task's name wherever another call goes on.
std::function<result<void>(const tasks::task_delta&)> show_pieces(console& output) {
    return
        [&output, last = std::uint64_t{0}](const tasks::task_delta& piece) mutable -> result<void> {
            std::string text;
            const bool open = output.line_is_open();
            if (piece.call != last || !open) {
                if (open) text += '\n';
                (text += '[').append(piece.task) += "] ";
                last = piece.call;
            }
            output.err_piece(text += piece.text);
            return {};
        };
}

} // namespace

void application::set_bounds(const workflow_options& options) {
    if (options.concurrency) bounds_.concurrency = *options.concurrency;
    else if (settings_.concurrency)
        bounds_.concurrency = static_cast<std::size_t>(*settings_.concurrency);
    if (options.memory_limit) bounds_.memory_limit = *options.memory_limit;
    else if (settings_.memory_limit) bounds_.memory_limit = *settings_.memory_limit;
    if (options.step_limit) bounds_.step_limit = *options.step_limit;
    else if (settings_.step_limit)
        bounds_.step_limit = static_cast<std::uint64_t>(*settings_.step_limit);
}

result<std::unique_ptr<application>> application::create(const std::string& program,
                                                         const workflow_options& options,
                                                         const setup::environment& variables,
                                                         console& output) {
    std::unique_ptr<application> object(
        new application(make_console_log(output, level_for(logged_verbosity(options)))));

    const setup::consent_store consents = setup::consents_of(variables);
    HEDDLE_TRY(object->settings_,
               setup::find_config({options.config, ".", variables.config_folder(), &consents}));
    for (const std::string& file : object->settings_.files) {
        object->log_->write(log_level::info, "config", "settings from " + file);
    }
    object->set_bounds(options);
    object->http_ = http::make_http_client(
        object->loop_, setup::client_options(object->settings_.http, variables, *object->log_));

    auto files = fs::make_workspace_files(options.workspace, object->loop_);
    if (!files) return std::move(files).error().with_hint("--workspace names a directory");
    object->files_ = *std::move(files);
    if (options.from_journal)
        object->files_ = setup::make_read_only_files(std::move(object->files_));
    HEDDLE_TRY(object->imports_,
               setup::make_program_imports(program, options.workspace, object->loop_));

    HEDDLE_TRY(memory::memory_options memory, memory_of(options, *object->log_));
    object->workers_ = fs::make_worker_pool(object->loop_, 2);
    object->memory_ = std::make_unique<memory::memory_system>(
        *object->workers_, fs::make_local_tree(), std::move(memory));

    if (options.allow_shell && !options.from_journal)
        HEDDLE_CHECK(object->allow_programs(options, output));

    tasks::context_sources sources;
    sources.files = object->files_.get();
    sources.memory = object->memory_.get();
    sources.processes = object->processes_.get();
    sources.processes_hint = how_to_allow;
    tasks::context_options contexts;
    contexts.matching.enabled = options.match_with_model;
    contexts.roots = spellings_of(options.workspace);
    object->contexts_ = std::make_unique<tasks::context_builder>(sources, contexts);

    if (!options.show_prompts.empty()) {
        object->prompts_ =
            std::make_unique<prompt_printer>(output, options.show_prompts, options.json);
    }
    const setup::service_request request = request_of(options, object->parking_);
    auto models =
        setup::set_up_models({request, object->settings_, variables, object->loop_, *object->http_,
                              *object->workers_, *object->log_, &consents, object->prompts_.get()});
    if (!models) return std::move(models).error();
    object->models_ = *std::move(models);

    if (object->settings_.prices) {
        HEDDLE_TRY(const std::string text, setup::read_input_file(*object->settings_.prices));
        HEDDLE_CHECK(object->prices_.add(text, *object->settings_.prices));
    }
    object->name_prices();

    object->template_folders_ = options.tasks.empty() ? object->settings_.tasks : options.tasks;
    if (object->template_folders_.empty() && setup::has_templates(options.default_tasks))
        object->template_folders_.push_back(options.default_tasks);
    HEDDLE_TRY(tasks::loaded_templates templates,
               setup::load_run_templates(object->template_folders_, object->models_->registry(),
                                         *object->log_));

    tasks::task_system_parts task_parts;
    task_parts.templates = std::move(templates.templates);
    task_parts.prices = &object->prices_;
    task_parts.budget_usd = options.budget_usd;
    task_parts.max_calls = options.max_calls;
    task_parts.models = &object->models_->registry();
    task_parts.observer = &object->counts_;
    object->counts_.replayed = options.replay.has_value();
    object->keeps_responses_ =
        options.has_journal || options.replay ||
        options.cache.value_or(object->settings_.cache.enabled.value_or(false));
    task_parts.memory = object->memory_.get();
    object->set_up_programs(options, task_parts);
    task_parts.matching = contexts.matching;
    task_parts.context = object->contexts_.get();

    if (options.many_rows) task_parts.priority = ports::call_priority::batch;
    // A terminal cannot ask for a thousand rows at once.
    if (!options.many_rows && !options.from_journal &&
        terminal_questions::can_ask(output.traits())) {
        object->questions_ = std::make_unique<terminal_questions>(object->loop_, output);
        task_parts.ask_user = [asker = object->questions_.get()](tasks::user_question question,
                                                                 coro::call_context context) {
            return asker->ask(std::move(question), context);
        };
    }
    if (options.parks_questions) task_parts.ask_user = parked_questions();
    if (options.stream) task_parts.on_delta = show_pieces(output);

    host::engine_parts parts;
    parts.log = object->log_.get();
    parts.files = object->files_.get();
    // A batch evaluates its program in many sessions, which must be of one version.
    const import_use kept = options.many_rows     ? import_use::pinned
                            : options.has_journal ? import_use::texts
                                                  : import_use::nothing;
    object->import_notes_ = std::make_unique<import_notes>(*object->imports_, kept);
    parts.imports = object->import_notes_.get();
    parts.print = [&output, to_error = options.prints_to_error,
                   drops = options.drops_output](std::string_view text) {
        if (drops) return;
        if (to_error) output.err(text);
        else output.out_data(text);
    };
    object->print_room_ =
        options.prints_to_error
            ? nullptr
            : std::make_unique<output_room>(object->loop_, output, console::stream::out);
    object->log_room_ = std::make_unique<output_room>(object->loop_, output, console::stream::err);
    // One object listens to a stream: what goes to standard error waits where the log does.
    output_room* const room_for_print =
        options.prints_to_error ? object->log_room_.get() : object->print_room_.get();
    parts.print_room = [room = room_for_print](coro::call_context context) {
        return room->wait(context);
    };
    parts.log_room = [room = object->log_room_.get()](coro::call_context context) {
        return room->wait(context);
    };
    parts.random_seed = options.seed;
    parts.operators = [self = object.get(), shared = std::move(task_parts)](host::session& owner) {
        tasks::task_system_parts own = shared;
        own.observer = self->observer_;
        return std::make_unique<tasks::session_tasks>(owner, std::move(own));
    };
    object->engine_ = std::make_unique<host::engine>(object->loop_, std::move(parts));
    return object;
}

coro::task<void> application::close() {
    co_await http_->close();
    // Also after an interruption or a timeout: the responses have arrived and are paid for.
    const result<void> kept = co_await models_->flush_cache(loop_);
    if (kept) co_return;
    const std::string& hint = kept.error().info().hint;
    log_->write(log_level::warn, "cache",
                kept.error().message() + (hint.empty() ? "" : "; " + hint));
}

result<void> application::allow_programs(const workflow_options& options, console& output) {
    process::process_options created;
    created.workspace = options.workspace;
    created.inherited = process::usual_variables();
    created.withheld = process::usual_secrets();
    created.withhold_passwords = true;
    for (const setup::provider_config& one : settings_.providers) {
        if (one.api_key_env) created.withheld.push_back(*one.api_key_env);
    }
    // A pattern is no word about keys; a whole name is.
    for (const auto* names : {&options.pass_env, &std::as_const(settings_.pass_env)}) {
        for (const std::string& name : *names) {
            const bool pattern = name.find('*') != std::string::npos;
            (pattern ? *created.inherited : created.passed).push_back(name);
        }
    }
    strays_ = std::make_unique<guard_at_end>();
    created.strays = &strays_->strays();
    created.on_terminal = [&output](bool taken) { output.hold_status(taken); };
    HEDDLE_TRY(processes_, process::make_process_port(loop_, std::move(created)));
    return {};
}

void application::set_up_programs(const workflow_options& options,
                                  tasks::task_system_parts& parts) {
    parts.processes = processes_.get();
    parts.processes_hint = how_to_allow;
    for (const auto mode : {tasks::aider_mode::automatic, tasks::aider_mode::interactive}) {
        tasks::aider_options about;
        if (options.aider) about.command = words_of(*options.aider);
        else if (!settings_.aider.empty()) about.command = settings_.aider;
        about.hint = parts.processes_hint;
        aider_.push_back(
            std::make_unique<tasks::aider_executor>(processes_.get(), mode, std::move(about)));
        parts.executors.emplace(tasks::aider_subtype(mode), aider_.back().get());
    }
}

/// What the user has named is priced as what it is; a route as the first of its models, where a
/// budget asks what a call may cost.
void application::name_prices() {
    for (const setup::provider_config& each : settings_.providers) {
        if (!each.type.empty()) prices_.price_as(each.name, each.type);
    }
    for (const setup::route_config& each : settings_.routes) {
        if (each.models.empty()) continue;
        const auto first = models_->registry().resolve(each.models.front(), "");
        if (first) prices_.price_as(each.name, first->provider->provider_name());
    }
}

void raise_open_file_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit); // what cannot be raised stays as it is
}

} // namespace heddle::cli
