// Everything that workflows use of the outside, as heddle.toml and the environment configure it.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/coro/event_loop.hpp>
#include <heddle/host/engine.hpp>
#include <heddle/host/import_port.hpp>
#include <heddle/host/run_options.hpp>
#include <heddle/memory/memory_system.hpp>
#include <heddle/ports/file_port.hpp>
#include <heddle/ports/http_port.hpp>
#include <heddle/ports/process_port.hpp>
#include <heddle/ports/tree_port.hpp>
#include <heddle/process/stray_guard.hpp>
#include <heddle/providers/prices/price_table.hpp>
#include <heddle/setup/config/configuration.hpp>
#include <heddle/setup/environment.hpp>
#include <heddle/setup/model_setup.hpp>
#include <heddle/setup/services/service_request.hpp>
#include <heddle/setup/services/watched_provider.hpp>
#include <heddle/setup/task_files.hpp>
#include <heddle/setup/trust/consent_store.hpp>
#include <heddle/tasks/context/context_builder.hpp>
#include <heddle/tasks/run/aider.hpp>
#include <heddle/tasks/run/task_system_parts.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::setup {

class remote_models;
class service_set;

/// The right of workflows to run programs in the workspace.
struct program_rights {
    /// Variables that programs inherit in addition to the usual ones and those of heddle.toml:
    /// names, or patterns such as MY_*.
    std::vector<std::string> pass_env;
    /// As in process::process_options.
    process::stray_guard* strays = nullptr;
    std::function<void(bool taken)> on_terminal;
};

/// What a service_set is made from. A value that is present takes precedence over heddle.toml.
struct service_set_options {
    environment variables; ///< environment::of_process(), or none
    /// Read in place of the project's and the user's heddle.toml.
    std::optional<std::string> config_file;
    /// The text of a heddle.toml, in place of any file and with the rights of the user's; relative
    /// paths in it are relative to `folder`. An empty text: nothing is configured.
    std::optional<std::string> config_text;
    std::string folder = "."; ///< where the file of a project is searched, and above

    service_request services;
    request_watch* of_sent = nullptr; ///< observes what is sent, after the cache; may be null
    /// A set whose loop another thread runs, or will run: it sends the requests and runs the
    /// programs of this one, so that connections, limits, cache and recording are shared. Settings,
    /// models, prices and templates are those of `home`; nothing is read again. Null: none.
    service_set* home = nullptr;

    std::size_t worker_threads = 2; ///< for files and the cache
    std::string workspace = ".";    ///< whose files workflows may use
    bool read_only = false;         ///< files are not written, and programs are not run
    /// The file of the program, which imports are relative to; empty or "<…>": none, imports are
    /// relative to the workspace.
    std::string program;
    std::vector<std::string> index;        ///< directories for get_context; empty: workspace
    std::optional<std::string> index_file; ///< where that index is kept between runs
    bool match_with_model = false;         ///< a model chooses among the files of a lookup

    std::vector<std::string> tasks; ///< folders and files of task templates
    std::string default_tasks; ///< the folder that is read if it exists and none are configured
    bool adds_default_tasks = false; ///< also read it if `tasks` or heddle.toml names others

    std::optional<program_rights> programs;        ///< absent: workflows run no programs
    std::string programs_hint;                     ///< how to allow them, for errors; may be empty
    std::optional<std::vector<std::string>> aider; ///< program and arguments

    std::optional<std::size_t> concurrency;    ///< branches at once; absent: as configured
    std::size_t usual_concurrency = 64;        ///< where nothing is configured
    std::optional<std::uint64_t> memory_limit; ///< bytes of a run; absent: 256 MiB
    std::optional<std::uint64_t> step_limit;   ///< of a run; absent: none
    std::optional<double> budget_usd;          ///< of all calls of a session; absent: no bound
    std::optional<std::uint64_t> max_calls;    ///< of a session; absent: no bound
};

/// The services of one event loop, and what else its sessions share: HTTP client, models with their
/// keys, limits, cache and recordings, prices, task templates, files, imports, memory, programs.
///
/// Make it, then an engine with engine_parts() whose operators are session_tasks with task_parts();
/// when all sessions have ended, await close(). `heddle run` uses it in the same way.
/// Threads: the loop's only.
class service_set {
public:
    /// Reads files, and for keys may run a command (half a minute); sends nothing. `loop` and `log`
    /// outlive the result, which outlives its sessions; `home` outlives both. Threads: the loop's,
    /// or any before it runs; `home` may be in use meanwhile. Errors: as find_config,
    /// set_up_models and load_run_templates; not_found for the workspace; invalid_argument for a
    /// directory of the index and for prices.
    [[nodiscard]] static result<std::unique_ptr<service_set>> create(coro::event_loop& loop,
                                                                     log_port& log,
                                                                     service_set_options options);
    ~service_set();
    service_set(const service_set&) = delete;
    service_set& operator=(const service_set&) = delete;

    /// For a session_tasks: models, prices, templates, memory, contexts, programs, budget. The
    /// caller adds the observer, the priority and what else is its own.
    [[nodiscard]] const tasks::task_system_parts& task_parts() const noexcept {
        return task_parts_;
    }
    /// For an engine: log, files, imports, seed. The caller adds the operators and what else is its
    /// own.
    [[nodiscard]] host::engine_parts engine_parts() const;
    /// Bounds of an evaluation.
    [[nodiscard]] const host::run_options& bounds() const noexcept { return bounds_; }
    /// Branches at once, where nothing is configured, from the next evaluation on.
    void use_usual_concurrency(std::size_t branches) noexcept {
        options_.usual_concurrency = branches;
        set_bounds();
    }

    [[nodiscard]] coro::event_loop& loop() const noexcept { return loop_; }
    [[nodiscard]] const configuration& settings() const noexcept { return settings_; }
    /// Where the templates are: folders and files.
    [[nodiscard]] const std::vector<template_place>& template_places() const noexcept {
        return template_places_;
    }
    /// Those of the `home`, where there is one: for its thread only.
    [[nodiscard]] model_setup& models() noexcept {
        return options_.home ? options_.home->models() : *models_;
    }
    [[nodiscard]] const model_setup& models() const noexcept {
        return options_.home ? std::as_const(*options_.home).models() : *models_;
    }
    [[nodiscard]] const ports::price_port& prices() const noexcept { return prices_; }
    [[nodiscard]] ports::http_port& http() noexcept { return *http_; }
    [[nodiscard]] ports::file_port& files() noexcept { return *files_; }
    [[nodiscard]] ports::worker_port& workers() noexcept { return *workers_; }
    [[nodiscard]] host::import_port& imports() noexcept { return *imports_; }
    [[nodiscard]] memory::memory_system& memory() noexcept { return *memory_; }
    /// Null: workflows run no programs.
    [[nodiscard]] ports::process_port* processes() noexcept { return processes_.get(); }
    /// Whether there is a cache of responses.
    [[nodiscard]] bool has_cache() const noexcept { return has_cache_; }

    /// Waits until every connection is closed and, for at most 3 s, until the responses for the
    /// cache are written. Await it before leaving the loop; no call may be in progress.
    [[nodiscard]] coro::task<void> close();

private:
    service_set(coro::event_loop& loop, log_port& log, service_set_options options);
    [[nodiscard]] result<void> read_settings();
    [[nodiscard]] result<void> open_files();
    [[nodiscard]] result<void> allow_programs();
    [[nodiscard]] result<void> open_models();
    [[nodiscard]] result<void> load_prices();
    [[nodiscard]] result<void> load_tasks();
    void set_bounds() noexcept;
    void name_prices();
    void set_up_contexts();
    void set_up_aider();

    coro::event_loop& loop_;
    log_port& log_;
    service_set_options options_;
    consent_store consents_;
    configuration settings_;
    providers::price_table prices_ = providers::price_table::built_in();
    std::vector<template_place> template_places_;
    host::run_options bounds_;
    bool has_cache_ = false;
    std::shared_ptr<ports::http_port> http_;
    std::shared_ptr<ports::file_port> files_;
    std::unique_ptr<ports::process_port> processes_;
    std::vector<std::unique_ptr<tasks::aider_executor>> aider_;
    std::unique_ptr<ports::worker_port> workers_;
    std::unique_ptr<memory::memory_system> memory_;
    std::unique_ptr<tasks::context_builder> contexts_;
    std::unique_ptr<model_setup> models_;           ///< null with a home
    std::unique_ptr<const remote_models> borrowed_; ///< those of the home; null without one
    std::unique_ptr<host::import_port> imports_;
    tasks::task_system_parts task_parts_;
};

} // namespace heddle::setup
