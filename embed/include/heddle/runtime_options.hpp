// What a runtime is made of.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/file_source.hpp>
#include <heddle/memory_source.hpp>
#include <heddle/model_provider.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace HEDDLE_PUBLIC heddle {

struct runtime_options {
    /// Threads that run workflows. They share limits, cache and connections of the services that
    /// heddle.toml configures.
    unsigned threads = 1;

    // Calls.
    std::size_t max_running = 1'000; ///< calls at once, in all threads; 1 at least
    /// Calls that wait for others to end. Further ones fail at once with runtime_errc::overloaded.
    std::size_t max_queued = 10'000;

    // Bounds of each call that sets none itself.
    std::optional<std::chrono::nanoseconds> timeout{};
    std::optional<double> budget_usd{};
    std::optional<std::uint64_t> max_calls{};
    // Absent: as in heddle.toml, or else 64 branches, 256 MiB and no limit of steps.
    std::optional<std::size_t> concurrency{};  ///< branches at once
    std::optional<std::size_t> memory_limit{}; ///< bytes
    std::optional<std::uint64_t> step_limit{}; ///< calls, loops, work of builtins

    // Models and what else heddle.toml configures: keys, limits, prices, routes, cache, templates.
    std::string config{};      ///< path of a heddle.toml, as `heddle` reads it; empty: none
    std::string config_text{}; ///< the text of one, in place of the file
    /// Without either: whether those of the project and of the user are found and trusted, and
    /// HEDDLE_MODEL is the model, as for `heddle run`. (Keys, and addresses of services, are read
    /// from the environment in any case.)
    bool find_config = false;
    /// URL of a server in the format of OpenAI, in place of that of the service `openai`; empty: as
    /// configured.
    std::string base_url{};
    /// Files and folders of task templates; empty: as in heddle.toml.
    std::vector<std::string> tasks{};
    /// Rules of the scripted model (docs/reference/scripted-model.md), as JSON; empty: none.
    std::string scripted_rules{};
    /// Providers of the host. Tasks name their models `NAME:MODEL`.
    std::vector<std::shared_ptr<model_provider>> providers{};
    /// The model of tasks that name none, such as "openai:gpt-4o-mini"; empty: the scripted one,
    /// else that of the first provider of the host, else that of heddle.toml.
    std::string model{};

    // What workflows may reach.
    /// The folder whose files they may read, write, search and import; empty: none. (A program that
    /// was loaded from a file may always import files beside it.)
    std::string workspace{};
    std::shared_ptr<file_source> files{};    ///< in place of those of the workspace
    std::shared_ptr<memory_source> memory{}; ///< for (get_context …), in place of the workspace

    /// Receives log lines. Called from all threads of the runtime, maybe at the same time; must not
    /// throw. Empty: nothing is logged.
    std::function<void(log_level, std::string_view component, std::string_view message)> log{};
    log_level least_logged = log_level::info; ///< lines below it are not made
    /// Receives what workflows print. As `log`; empty: it is dropped.
    std::function<void(std::string_view text)> print{};

    std::size_t piece_buffer = 64 * 1024; ///< bytes of text that a job holds for its reader
    /// How long a cancelled call waits for functions of the host that do not end. Afterwards they
    /// are left behind, with a warning in the log; their results are dropped.
    std::chrono::nanoseconds function_grace = std::chrono::seconds(5);
};

/// How a program is loaded.
struct load_options {
    /// Whether it is read again when its file, or one that it imports, changes. A version that has
    /// mistakes is logged and not used.
    bool reload = false;
    std::chrono::nanoseconds reload_interval = std::chrono::seconds(1); ///< between two looks
};

} // namespace heddle
