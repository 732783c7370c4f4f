#include <heddle/setup/service_set.hpp>

#include "config/provider_index.hpp"
#include "read_only_files.hpp"
#include "remote_models.hpp"
#include "remote_processes.hpp"
#include "services/key_destination.hpp"

#include <heddle/fs/local_tree.hpp>
#include <heddle/fs/workspace_files.hpp>
#include <heddle/http/client.hpp>
#include <heddle/process/child_processes.hpp>
#include <heddle/setup/config/config_file.hpp>
#include <heddle/setup/config/service_types.hpp>
#include <heddle/setup/input_files.hpp>
#include <heddle/setup/program_imports.hpp>
#include <heddle/setup/services/client_options.hpp>
#include <heddle/setup/services/configured_services.hpp>
#include <heddle/setup/task_files.hpp>

#include <filesystem>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace heddle::setup {

namespace {

/// What get_context looks through: indexed when it is first asked.
result<memory::memory_options> memory_of(const service_set_options& options, log_port& log) {
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

} // namespace

service_set::service_set(coro::event_loop& loop, log_port& log, service_set_options options)
    : loop_(loop), log_(log), options_(std::move(options)),
      consents_(consents_of(options_.variables)) {}

service_set::~service_set() = default;

result<std::unique_ptr<service_set>> service_set::create(coro::event_loop& loop, log_port& log,
                                                         service_set_options options) {
    std::unique_ptr<service_set> set(new service_set(loop, log, std::move(options)));
    HEDDLE_CHECK(set->read_settings());
    set->set_bounds();
    set->http_ = http::make_http_client(
        loop, client_options(set->settings_.http, set->options_.variables, log));
    HEDDLE_CHECK(set->open_files());
    HEDDLE_CHECK(set->allow_programs());
    set->set_up_contexts();
    HEDDLE_CHECK(set->open_models());
    HEDDLE_CHECK(set->load_prices());
    HEDDLE_CHECK(set->load_tasks());
    set->set_up_aider();
    return set;
}

result<void> service_set::read_settings() {
    if (options_.home) {
        settings_ = options_.home->settings_;
        return {};
    }
    config_sources sources;
    sources.explicit_file = options_.config_file;
    sources.explicit_text = options_.config_text;
    sources.folder = options_.folder;
    sources.user_folder = options_.variables.config_folder();
    sources.consents = &consents_;
    HEDDLE_TRY(settings_, find_config(sources));
    for (const std::string& file : settings_.files) {
        log_.write(log_level::info, "config", "settings from " + file);
    }
    return {};
}

void service_set::set_bounds() noexcept {
    if (options_.concurrency) bounds_.concurrency = *options_.concurrency;
    else if (settings_.concurrency)
        bounds_.concurrency = static_cast<std::size_t>(*settings_.concurrency);
    else bounds_.concurrency = options_.usual_concurrency;
    if (options_.memory_limit) bounds_.memory_limit = *options_.memory_limit;
    else if (settings_.memory_limit) bounds_.memory_limit = *settings_.memory_limit;
    if (options_.step_limit) bounds_.step_limit = *options_.step_limit;
    else if (settings_.step_limit)
        bounds_.step_limit = static_cast<std::uint64_t>(*settings_.step_limit);
}

result<void> service_set::open_files() {
    auto files = fs::make_workspace_files(options_.workspace, loop_);
    if (!files) return std::move(files).error().with_hint("the workspace must be a directory");
    files_ = *std::move(files);
    if (options_.read_only) files_ = make_read_only_files(std::move(files_));
    HEDDLE_TRY(imports_, make_program_imports(options_.program, options_.workspace, loop_));

    HEDDLE_TRY(memory::memory_options memory, memory_of(options_, log_));
    workers_ = fs::make_worker_pool(loop_, options_.worker_threads);
    memory_ = std::make_unique<memory::memory_system>(*workers_, fs::make_local_tree(),
                                                      std::move(memory));
    return {};
}

result<void> service_set::allow_programs() {
    if (options_.home) {
        if (ports::process_port* const port = options_.home->processes())
            processes_ = make_remote_processes(options_.home->loop_.address(), *port);
        return {};
    }
    if (!options_.programs || options_.read_only) return {};
    process::process_options created;
    created.workspace = options_.workspace;
    created.inherited = process::usual_variables();
    created.withheld = process::usual_secrets();
    created.withhold_passwords = true;
    for (const provider_config& one : settings_.providers) {
        if (one.api_key_env) created.withheld.push_back(*one.api_key_env);
    }
    // A pattern is not a word about keys; a whole name is.
    for (const auto* names :
         {&std::as_const(options_.programs->pass_env), &std::as_const(settings_.pass_env)}) {
        for (const std::string& name : *names) {
            const bool pattern = name.find('*') != std::string::npos;
            (pattern ? *created.inherited : created.passed).push_back(name);
        }
    }
    created.strays = options_.programs->strays;
    created.on_terminal = options_.programs->on_terminal;
    HEDDLE_TRY(processes_, process::make_process_port(loop_, std::move(created)));
    return {};
}

void service_set::set_up_contexts() {
    tasks::context_sources sources;
    sources.files = files_.get();
    sources.memory = memory_.get();
    sources.processes = processes_.get();
    sources.processes_hint = options_.programs_hint;
    tasks::context_options contexts;
    contexts.matching.enabled = options_.match_with_model;
    contexts.roots = spellings_of(options_.workspace);
    contexts_ = std::make_unique<tasks::context_builder>(sources, contexts);
    task_parts_.memory = memory_.get();
    task_parts_.matching = contexts.matching;
    task_parts_.context = contexts_.get();
}

result<void> service_set::open_models() {
    if (const service_set* const home = options_.home) {
        borrowed_ =
            std::make_unique<remote_models>(home->loop_.address(), home->models().registry());
        has_cache_ = home->has_cache_;
        task_parts_.models = &borrowed_->registry();
        return {};
    }
    const service_request& request = options_.services;
    HEDDLE_TRY(models_, set_up_models({request, settings_, options_.variables, loop_, *http_,
                                       *workers_, log_, &consents_, options_.of_sent}));
    has_cache_ = !request.replay && request.cache.value_or(settings_.cache.enabled.value_or(false));
    task_parts_.models = &models_->registry();
    return {};
}

result<void> service_set::load_prices() {
    if (options_.home) {
        prices_ = options_.home->prices_;
    } else {
        if (settings_.prices) {
            HEDDLE_TRY(const std::string text, read_input_file(*settings_.prices));
            HEDDLE_CHECK(prices_.add(text, *settings_.prices));
        }
        name_prices();
    }
    task_parts_.prices = &prices_;
    task_parts_.budget_usd = options_.budget_usd;
    task_parts_.max_calls = options_.max_calls;
    return {};
}

/// What the user has named is priced as what it is; a route as the first of its models, where a
/// budget asks what a call may cost. A project does not change the price of a service of the user's
/// by another type, such as one of local servers, which cost nothing; nor is a service free by its
/// name, or by the user's type, where the project sets the type of a paid one. A project's own name
/// for a place where the user has a service has the prices that the user has set for that one, and
/// costs nothing only if that one does.
void service_set::name_prices() {
    const configuration& users_all =
        settings_.without_project ? *settings_.without_project : settings_;
    const provider_index own(users_all);
    const service_request& request = options_.services;
    const std::vector<provider_config> users_services =
        services_of_user(settings_, request.base_url, options_.variables, request.model);
    std::unordered_map<std::string, const provider_config*> own_at;
    std::unordered_set<std::string_view> set_by_user;
    const auto origin_of = [this](const provider_config& each) {
        const auto type = find_service_type(type_of(each));
        return type ? account_origin(address_of(each, *type, options_.variables)) : std::string();
    };
    if (settings_.without_project) {
        // Those with prices of their own first: of several the first by name.
        for (const bool has_own : {true, false}) {
            for (const provider_config& each : users_services) {
                if (prices_.has_added(each.name) == has_own) own_at.emplace(origin_of(each), &each);
            }
        }
        for (const auto& [origin, each] : own_at) {
            if (prices_.has_added(each->name)) set_by_user.insert(each->name);
        }
        for (const provider_config& each : users_services)
            prices_.price_as(each.name, type_of(each));
    }
    for (const provider_config& each : settings_.providers) {
        const provider_config* const users = own.find(each.name);
        const auto there = users ? own_at.end() : own_at.find(origin_of(each));
        if (there != own_at.end()) {
            const std::string& like = there->second->name;
            prices_.price_as(each.name, type_of(each));
            const bool must_pay = prices_.is_free(each.name) && !prices_.is_free(like);
            const bool has_set = set_by_user.contains(like) && !prices_.is_free(like);
            if (must_pay || has_set) prices_.replace(each.name, like);
            continue;
        }
        prices_.price_as(each.name, type_of(users ? *users : each));
        const bool is_other = type_of(each) != (users ? type_of(*users) : each.name);
        if (settings_.without_project && is_other && prices_.is_free(each.name))
            prices_.replace(each.name, type_of(each));
    }
    for (const route_config& each : settings_.routes) {
        if (each.models.empty()) continue;
        const auto first = models_->registry().resolve(each.models.front(), "");
        if (first) prices_.price_as(each.name, first->provider->provider_name());
    }
}

result<void> service_set::load_tasks() {
    if (options_.home) {
        template_places_ = options_.home->template_places_;
        task_parts_.templates = options_.home->task_parts_.templates;
        return {};
    }
    const bool is_asked = !options_.tasks.empty();
    template_places_ = named_templates(is_asked ? options_.tasks : settings_.tasks);
    if (!is_asked) {
        for (template_place& each : template_places_) each.root = settings_.tasks_root;
    }
    const bool adds_default = options_.adds_default_tasks || template_places_.empty();
    if (adds_default && has_templates(options_.default_tasks))
        template_places_.insert(template_places_.begin(), found_templates(options_.default_tasks));
    HEDDLE_TRY(tasks::loaded_templates templates,
               load_run_templates(template_places_, models_->registry(), log_));
    task_parts_.templates = std::move(templates.templates);
    return {};
}

void service_set::set_up_aider() {
    task_parts_.processes = processes_.get();
    task_parts_.processes_hint = options_.programs_hint;
    for (const auto mode : {tasks::aider_mode::automatic, tasks::aider_mode::interactive}) {
        tasks::aider_options about;
        if (options_.aider) about.command = *options_.aider;
        else if (!settings_.aider.empty()) about.command = settings_.aider;
        about.hint = options_.programs_hint;
        aider_.push_back(
            std::make_unique<tasks::aider_executor>(processes_.get(), mode, std::move(about)));
        task_parts_.executors.emplace(tasks::aider_subtype(mode), aider_.back().get());
    }
}

host::engine_parts service_set::engine_parts() const {
    host::engine_parts parts;
    parts.log = &log_;
    parts.files = files_.get();
    parts.imports = imports_.get();
    parts.random_seed = options_.services.seed;
    return parts;
}

coro::task<void> service_set::close() {
    co_await http_->close();
    if (!models_) co_return; // its home closes them
    // Also after an interruption or a timeout: the responses have arrived and are paid for.
    const result<void> kept = co_await models_->flush_cache(loop_);
    if (kept) co_return;
    const std::string& hint = kept.error().info().hint;
    log_.write(log_level::warn, "cache",
               kept.error().message() + (hint.empty() ? "" : "; " + hint));
}

} // namespace heddle::setup
