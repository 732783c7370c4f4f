// What the commands that run workflows are asked for.
#pragma once

#include "progress_style.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::setup {
class request_watch;
} // namespace heddle::setup

namespace heddle::cli {

/// The options that `run`, `eval`, `call` and `repl` share.
struct workflow_options {
    std::optional<std::string> model; ///< PROVIDER:MODEL
    std::optional<std::string> base_url;
    std::optional<std::size_t> concurrency;           ///< absent: as configured, else 64
    std::optional<std::chrono::milliseconds> timeout; ///< of the whole run
    std::optional<std::uint64_t> memory_limit; ///< bytes; absent: as configured, else 256 MiB
    std::optional<std::uint64_t> step_limit;   ///< absent: as configured, else none
    std::optional<double> budget_usd;          ///< of all model calls together; absent: no bound
    std::optional<std::uint64_t> max_calls;    ///< of all together; absent: no bound
    bool json = false;
    bool stream = false;                                 ///< show the text of tasks as it arrives
    progress_style progress = progress_style::automatic; ///< of `run`
    int verbosity = 0;                                   ///< -1 with -q, else the number of -v
    std::uint64_t seed = 0;
    std::string workspace = ".";
    std::vector<std::string> index;        ///< directories for get_context; empty: workspace
    std::optional<std::string> index_file; ///< where that index is kept between runs
    std::optional<std::string> config;     ///< in place of the default files
    std::optional<bool> cache;             ///< use a cache of responses
    std::optional<std::string> cache_file;
    std::optional<std::string> record; ///< a file for the calls of the run
    std::optional<std::string> replay; ///< a file with recorded calls, in place of services
    bool replay_leniently = false;
    bool allow_shell = false;              ///< workflows may run programs
    std::vector<std::string> pass_env;     ///< variables that those programs inherit as well
    std::optional<std::string> aider;      ///< command line of Aider
    bool match_with_model = false;         ///< a model chooses among the files of a lookup
    std::vector<std::string> tasks;        ///< folders and files of task templates
    bool many_rows = false;                ///< a batch: no terminal is asked; calls of others first
    bool prints_to_error = false;          ///< what the workflow prints goes to standard error
    std::string show_prompts;              ///< whose requests are shown; "*": all; empty: none
    setup::request_watch* watch = nullptr; ///< observes requests before the cache; may be null
    bool without_keys = false;             ///< nothing is sent, so no key is needed
    bool has_journal = false;              ///< `heddle run --run`: responses and imports are kept
    bool from_journal = false;       ///< nothing is sent, written or started: only records are used
    bool parks_questions = false;    ///< system:ask_user parks its row, which has a journal
    bool parks = false;              ///< requests may wait for batches of their services
    bool parks_all = false;          ///< those of all tasks do, where nothing else is set
    std::string why_not_parked;      ///< as of setup::service_request
    bool drops_output = false;       ///< what the workflow prints and logs is not shown
    bool is_prompt = false;          ///< tasks are often defined again
    std::string default_tasks;       ///< the folder that is read if it exists and `tasks` is empty
    bool adds_default_tasks = false; ///< also read it if `tasks` is not empty

    /// Standard error is read by programs: errors and the end are objects there.
    [[nodiscard]] bool errors_as_json() const noexcept {
        return json || progress == progress_style::json;
    }
};

} // namespace heddle::cli
