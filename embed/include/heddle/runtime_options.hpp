// Options of a runtime.
#pragma once

#include <heddle/base/log.hpp>
#include <heddle/base/visibility.hpp>
#include <heddle/file_source.hpp>
#include <heddle/journal_options.hpp>
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
    /// Threads that run workflows. They share the limits, the cache and the connections of the
    /// services that heddle.toml configures.
    unsigned threads = 1;

    // Calls.
    std::size_t max_running = 1'000; ///< calls at a time, on all threads together; at least 1
    /// Calls that wait in the queue. Further calls fail at once with runtime_errc::overloaded.
    std::size_t max_queued = 10'000;

    // Defaults of call_options.
    std::optional<std::chrono::nanoseconds> timeout{};
    std::optional<double> budget_usd{}; ///< at least 0
    std::optional<std::uint64_t> max_calls{};
    // Absent: as in heddle.toml; otherwise 64 branches, 256 MiB and no step limit.
    std::optional<std::size_t> concurrency{};  ///< branches at a time; at least 1
    std::optional<std::size_t> memory_limit{}; ///< bytes
    std::optional<std::uint64_t> step_limit{}; ///< calls, loops, work of builtins

    // Models, and what else heddle.toml configures: keys, limits, prices, routes, cache, templates.
    std::string config{};      ///< path of a heddle.toml; empty: none
    std::string config_text{}; ///< the content of a heddle.toml, in place of a file
    /// Without either: whether to use the heddle.toml of the project, if it is trusted, and of the
    /// user, and HEDDLE_MODEL as the model, as `heddle run` does. Keys and addresses of services
    /// are read from the environment in any case.
    bool find_config = false;
    /// URL of an OpenAI-compatible server, which replaces that of the service `openai`; empty: as
    /// configured.
    std::string base_url{};
    /// Files and folders of task templates; empty: as in heddle.toml.
    std::vector<std::string> tasks{};
    /// Rules of the scripted model (docs/reference/scripted-model.md), as JSON; empty: none.
    std::string scripted_rules{};
    /// Providers of the host. Tasks name their models `NAME:MODEL`.
    std::vector<std::shared_ptr<model_provider>> providers{};
    /// The model of tasks that name none, such as "openai:gpt-4o-mini"; empty: the scripted
    /// model, otherwise that of the first provider of the host, otherwise that of heddle.toml.
    std::string model{};

    // What workflows can access.
    /// The folder whose files they can read, write, search and import; empty: none. A program that
    /// was loaded from a file can always import the files in its folder.
    std::string workspace{};
    std::shared_ptr<file_source> files{};    ///< in place of the files of the workspace
    std::shared_ptr<memory_source> memory{}; ///< for (get_context …), in place of the workspace

    /// Where calls that have a tag are recorded, so that they continue after a crash.
    journal_options journal{};

    /// Receives log lines. Called from all threads of the runtime, possibly at the same time; must
    /// not throw. Empty: nothing is logged.
    std::function<void(log_level, std::string_view component, std::string_view message)> log{};
    log_level least_logged = log_level::info; ///< lines of lower levels are not logged
    /// Receives what workflows print, under the same rules as `log`. Empty: the output is
    /// discarded.
    std::function<void(std::string_view text)> print{};

    /// Bytes of text that a job buffers for its reader; it buffers at least one piece.
    std::size_t piece_buffer = 64 * 1024;
    /// How long a cancelled call waits for functions of the host. Those that have not completed by
    /// then are abandoned: a warning is logged, and their results are discarded.
    std::chrono::nanoseconds function_grace = std::chrono::seconds(5);
};

/// How a program is loaded.
struct load_options {
    /// Whether to load the program again when its file, or one that it imports, changes. A version
    /// that has mistakes is logged and not used.
    bool reload = false;
    std::chrono::nanoseconds reload_interval = std::chrono::seconds(1); ///< between two checks
    /// Maximum time to load a new version on all threads; a version that takes longer, also because
    /// a function of the host blocks a thread, is logged and not used until its files change again.
    /// A change during the load cancels it at once.
    std::chrono::nanoseconds reload_timeout = std::chrono::seconds(30);
};

} // namespace heddle
